package lunar.bench.compare;

import lunar.bench.harness.Pair;
import lunar.bench.harness.Subject;
import lunar.bench.harness.Work;

import static lunar.bench.compare.Agenda.ALONE;
import static lunar.bench.compare.Agenda.CEILING;
import static lunar.bench.compare.Agenda.FEW_SESSIONS;
import static lunar.bench.compare.Agenda.FILE;
import static lunar.bench.compare.Agenda.INITIATOR;
import static lunar.bench.compare.Agenda.ISCSI_PERF;
import static lunar.bench.compare.Agenda.LARGE_READS;
import static lunar.bench.compare.Agenda.LARGE_WRITES;
import static lunar.bench.compare.Agenda.LIBISCSI;
import static lunar.bench.compare.Agenda.LOOP;
import static lunar.bench.compare.Agenda.MANY_SESSIONS;
import static lunar.bench.compare.Agenda.RAM;
import static lunar.bench.compare.Agenda.READS;
import static lunar.bench.compare.Agenda.SENDFILE;
import static lunar.bench.compare.Agenda.SESSIONS;
import static lunar.bench.compare.Agenda.SPREAD_CEILING;
import static lunar.bench.compare.Agenda.TGTD_FILE;
import static lunar.bench.compare.Agenda.WRITES;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.bench.compare.Goal.Bound;
import lunar.bench.compare.Goal.Figure;
import lunar.bench.compare.Goal.Quantity;
import lunar.bench.harness.Pair.Terms;

/** Performance goals of Lunar's data path. */
final class Goals {
    private static final Pair MODEL = Pair.of(CEILING, LOOP);
    private static final Pair SPREAD_MODEL = Pair.of(SPREAD_CEILING, LOOP);

    private final List<Goal> goals = new ArrayList<>();

    private Goals() {}

    static List<Goal> all() {
        var all = new Goals();
        all.target();
        all.ceiling();
        all.initiator();
        all.sessions();
        all.digests();
        return List.copyOf(all.goals);
    }

    private void ratio(String what, Work work, Pair over, Pair under, Quantity quantity,
            Bound bound) {
        goals.add(new Goal(work.name(), what, new Figure(work, over, quantity),
                Optional.of(new Figure(work, under, quantity)), bound));
    }

    private void iops(String what, Work work, Pair over, Pair under, Bound bound) {
        ratio(what + ": " + over.label() + " / " + under.label(), work, over, under, Quantity.IOPS,
                bound);
    }

    /** Lunar's target beside tgtd, with one and the same client. */
    private void target() {
        for (Subject lun : List.of(FILE, RAM)) {
            same(READS, lun, ISCSI_PERF, Bound.least(1.5));
            ratio("processor time of the target: " + lun + " / " + TGTD_FILE, READS,
                    Pair.of(lun, ISCSI_PERF), Pair.of(TGTD_FILE, ISCSI_PERF), Quantity.SERVER_US,
                    Bound.most(0.5));
            iops("both ends", READS, Pair.of(lun, INITIATOR), Pair.of(TGTD_FILE, ISCSI_PERF),
                    Bound.least(3));
            same(ALONE, lun, ISCSI_PERF, Bound.least(1));
            same(WRITES, lun, LIBISCSI, Bound.least(1.5));
            same(LARGE_READS, lun, ISCSI_PERF, Bound.least(1.3));
            same(LARGE_WRITES, lun, LIBISCSI, Bound.least(1.3));
        }
    }

    private void same(Work work, Subject lun, String client, Bound bound) {
        iops("target", work, Pair.of(lun, client), Pair.of(TGTD_FILE, client), bound);
    }

    /** Both ends beside the model loop. */
    private void ceiling() {
        for (Subject lun : List.of(FILE, RAM)) {
            Pair ours = Pair.of(lun, INITIATOR);
            iops("of the model loop", READS, ours, MODEL, Bound.least(0.6));
            ratio("round trip: " + ours.label() + " / " + MODEL.label(), ALONE, MODEL, ours,
                    Quantity.IOPS, Bound.most(1.25));
            large(LARGE_READS, ours);
            large(LARGE_WRITES, ours);
            iops("of the model loop", WRITES, ours, MODEL, Bound.TOLD);
        }
        large(LARGE_READS, Pair.of(SENDFILE, INITIATOR));
        same(LARGE_READS, SENDFILE, ISCSI_PERF, Bound.least(1.3));
    }

    private void large(Work work, Pair ours) {
        iops("of the raw loopback rate", work, ours, MODEL, Bound.least(0.85));
        iops("of the raw loopback rate with data in 1 GiB", work, ours, SPREAD_MODEL, Bound.TOLD);
    }

    /** Lunar's initiator beside libiscsi, against one and the same target. */
    private void initiator() {
        for (Subject lun : List.of(RAM, TGTD_FILE)) {
            against(READS, lun, ISCSI_PERF, Bound.least(2));
            against(WRITES, lun, LIBISCSI, Bound.least(2));
            against(ALONE, lun, ISCSI_PERF, Bound.least(1));
            against(LARGE_READS, lun, ISCSI_PERF, Bound.least(1));
            against(LARGE_WRITES, lun, LIBISCSI, Bound.least(1));
        }
    }

    private void against(Work work, Subject lun, String client, Bound bound) {
        iops("initiator", work, Pair.of(lun, INITIATOR), Pair.of(lun, client), bound);
    }

    private void sessions() {
        Pair many = Agenda.sessions(RAM, MANY_SESSIONS);
        iops("total", SESSIONS, many, Agenda.sessions(RAM, FEW_SESSIONS), Bound.least(1));
        iops("total", SESSIONS, Agenda.sessions(TGTD_FILE, MANY_SESSIONS),
                Agenda.sessions(TGTD_FILE, FEW_SESSIONS), Bound.TOLD);
        slowest(many, Bound.least(0.5));
        slowest(Agenda.sessions(TGTD_FILE, MANY_SESSIONS), Bound.TOLD);
        ratio("p99: " + RAM + " / " + TGTD_FILE + ", " + MANY_SESSIONS + " sessions", SESSIONS,
                many, Agenda.sessions(TGTD_FILE, MANY_SESSIONS), Quantity.P99_US, Bound.TOLD);
    }

    private void slowest(Pair pair, Bound bound) {
        goals.add(new Goal(SESSIONS.name(), "slowest session / mean: " + pair.label(),
                new Figure(SESSIONS, pair, Quantity.SLOWEST), Optional.empty(), bound));
    }

    private void digests() {
        Pair plain = Pair.of(RAM, INITIATOR);
        iops("digests on / off", READS, plain.withTerms(Terms.DIGESTS), plain, Bound.least(0.8));
        iops("digests on / off", LARGE_READS, plain.withTerms(Terms.DIGESTS), plain,
                Bound.least(0.8));
    }
}
