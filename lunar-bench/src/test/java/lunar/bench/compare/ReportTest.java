package lunar.bench.compare;

import lunar.bench.harness.BenchException;
import lunar.bench.load.Measurement;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Results;
import lunar.bench.harness.Settings;
import lunar.bench.harness.Spread;
import lunar.bench.harness.Work;
import lunar.bench.load.Client;
import lunar.bench.load.IscsiPerf;
import lunar.bench.load.LunarBench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lunar.bench.compare.Goal.Bound;
import lunar.bench.compare.Goal.Judged;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ReportTest {
    private static final Pair OURS = Pair.of(Agenda.FILE, Agenda.ISCSI_PERF);
    private static final Pair THEIRS = Pair.of(Agenda.TGTD_FILE, Agenda.ISCSI_PERF);

    private final List<Measurement> measured = new ArrayList<>();

    private void add(int round, Work work, Pair pair, double iops, double serverUs) {
        measured.add(new Measurement(round, work.name(), pair.label(), iops,
                iops * work.requestBytes() / 1e6, 0, 0, 0, 1, serverUs, 1, 0.1, 2));
    }

    private Report report() throws BenchException {
        return new Report(new Results(Settings.parse("--rounds=3"), Map.of("cores", "2")),
                Agenda.ALL.choose("random read, depth 32", "perf"), measured,
                List.of(new Judged("steady", "bytes", "0", "0.01", "reached")));
    }

    private Judged judged(String what) {
        return Goals.all().stream().filter(goal -> goal.row().equals(Agenda.READS.name())
                && goal.what().startsWith(what)).findFirst().orElseThrow().judge(measured)
                .orElseThrow();
    }

    /** Ratios 2, 1.2 and 1.6: each round by itself, however much faster the machine was in one of them. */
    @Test
    void shouldCompareTheMedianOfTheRoundsRatios() {
        add(1, Agenda.READS, OURS, 200, 4);
        add(1, Agenda.READS, THEIRS, 100, 10);
        add(2, Agenda.READS, THEIRS, 1000, 10);
        add(2, Agenda.READS, OURS, 1200, 6);
        add(3, Agenda.READS, OURS, 160, 5);
        add(3, Agenda.READS, THEIRS, 100, 10);

        Judged target = judged("target: ");
        assertThat(target.measured()).isEqualTo("1.60 (1.20 to 2.00)");
        assertThat(target.verdict()).isEqualTo("reached, not in each round");
        assertThat(judged("processor time").measured()).isEqualTo("0.50 (0.40 to 0.60)");
    }

    @Test
    void shouldReportMeasuredValuesOnly() throws Exception {
        add(1, Agenda.READS, OURS, 100, 4);
        add(1, Agenda.READS, THEIRS, 100, 10);

        String markdown = report().markdown();
        assertThat(markdown).contains("- cores: 2", "| Lunar, file <- iscsi-perf | 100",
                "| target: Lunar, file <- iscsi-perf / tgtd, file <- iscsi-perf | at least 1.5 | "
                        + "1.00 (1.00 to 1.00) | missed |",
                "| steady | bytes | 0 | 0.01 | reached |").doesNotContain("memory", "256 KiB");
        JsonNode tree = new JsonMapper().readTree(report().json());
        assertThat(tree.path("measurements").get(1).path("serverUs").asInt()).isEqualTo(10);
        assertThat(tree.path("bars").get(0).path("verdict").asString()).isEqualTo("missed");
    }

    @Test
    void shouldReportWhetherTheRoundsAgree() {
        assertThat(Bound.least(1).verdict(new Spread(1, 1, 2))).isEqualTo("reached");
        assertThat(Bound.least(1).verdict(new Spread(0.9, 0.8, 1))).isEqualTo(
                "missed, not in each round");
        assertThat(Bound.most(1).verdict(new Spread(1.1, 1.01, 2))).isEqualTo("missed");
        assertThat(Bound.TOLD.verdict(new Spread(1, 1, 1))).isEqualTo("told");
    }

    @Test
    void shouldMeasureAllThatTheBarsNeed() {
        var labels = new ArrayList<String>();
        Agenda.ALL.entries().forEach(entry -> entry.pairs()
                .forEach(pair -> labels.add(entry.work().name() + ": " + pair.label())));

        assertThat(labels).doesNotHaveDuplicates();
        for (Goal goal : Goals.all()) {
            assertThat(labels).contains(goal.over().work().name() + ": "
                    + goal.over().pair().label());
            goal.under().ifPresent(under -> assertThat(labels)
                    .contains(under.work().name() + ": " + under.pair().label()));
        }
    }

    @Test
    void shouldUnderstandWhatTheClientsWrite() throws Exception {
        assertThat(new IscsiPerf(Path.of("log")).parse("iops 10 (1 MB/s)  iops average 61525 "
                + "(252 MB/s)\nfinished iops average 61700 (252 MB/s)").iops()).isEqualTo(61700);
        assertThat(new LunarBench(Path.of("lunar"), Path.of("log")).parse("""
                warning: slow
                {"total": {"iops": 5.5, "latencyMicroseconds": {"p50": 1, "p99": 2, "p99.9": 3}}}
                """)).isEqualTo(new Client.Outcome(5.5, 1, 2, 3, 1));
    }
}
