package lunar.bench.compare;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Subject;
import lunar.bench.harness.Work;
import lunar.bench.load.ModelLoad;
import lunar.bench.load.ModelServer;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;
import lunar.bench.harness.Pair.Terms;
import lunar.bench.harness.Work.Operation;

/**
 * List of measurements: workloads, each with its pairs.
 *
 * @param entries in the order of the report
 */
public record Agenda(List<Entry> entries) {
    /** A work and the pairs that do it. */
    public record Entry(Work work, List<Pair> pairs) {}

    // Servers.
    static final String TGTD = "tgtd";
    static final String LUNAR = "lunar";
    static final String MODEL = "model";

    // Clients.
    static final String ISCSI_PERF = "iscsi-perf";
    public static final String INITIATOR = "Lunar";
    static final String LIBISCSI = "libiscsi";
    static final String LOOP = "loop";

    // LUNs: see SideBySide, which sets the servers up in this order.
    static final Subject TGTD_FILE = new Subject("tgtd, file", TGTD, 1);
    static final Subject FILE = new Subject("Lunar, file", LUNAR, 0);
    static final Subject RAM = new Subject("Lunar, memory", LUNAR, 1);
    /** Another file, sent from the page cache without a copy. */
    static final Subject SENDFILE = new Subject("Lunar, file, sendfile", LUNAR, 2);
    /** {@link ModelServer}, which is no LUN: the same bytes go to and fro, and no more is done. */
    static final Subject CEILING = new Subject("model", MODEL, 0);
    /** Ceiling with the data in as much memory as the LUNs have, which no LUN can do without. */
    static final Subject SPREAD_CEILING = new Subject("model, 1 GiB", MODEL, ModelLoad.SPREAD_LUN);

    static final Work ALONE = new Work("4 KiB random read, depth 1, one core", Operation.READ,
            4096, true, 1, true);
    static final Work READS = new Work("4 KiB random read, depth 32", Operation.READ, 4096, true,
            32, false);
    static final Work WRITES = new Work("4 KiB random write, depth 32", Operation.WRITE, 4096, true,
            32, false);
    static final Work LARGE_READS = new Work("256 KiB sequential read, depth 8", Operation.READ,
            256 << 10, false, 8, false);
    static final Work LARGE_WRITES = new Work("256 KiB sequential write, depth 8", Operation.WRITE,
            256 << 10, false, 8, false);
    static final Work SESSIONS = new Work("4 KiB random read, sessions x depth 8", Operation.READ,
            4096, true, 8, false);

    static final int FEW_SESSIONS = 4;
    static final int MANY_SESSIONS = 64;

    /** Works that {@link Goals} needs, and libiscsi's reads as we drive it, to compare with {@code iscsi-perf}'s. */
    static final Agenda ALL = new Agenda(List.of(
            new Entry(ALONE, with(ISCSI_PERF)),
            new Entry(READS, and(with(ISCSI_PERF), Pair.of(RAM, LIBISCSI), digests(RAM))),
            new Entry(WRITES, with(LIBISCSI)),
            new Entry(LARGE_READS,
                    and(with(ISCSI_PERF), digests(RAM), Pair.of(SENDFILE, ISCSI_PERF),
                            Pair.of(SENDFILE, INITIATOR), Pair.of(SPREAD_CEILING, LOOP))),
            new Entry(LARGE_WRITES, and(with(LIBISCSI), Pair.of(SPREAD_CEILING, LOOP))),
            new Entry(SESSIONS, List.of(sessions(RAM, FEW_SESSIONS), sessions(RAM, MANY_SESSIONS),
                    sessions(TGTD_FILE, FEW_SESSIONS), sessions(TGTD_FILE, MANY_SESSIONS)))));

    /** Each LUN with the C client and with ours, and the ceiling. */
    private static List<Pair> with(String client) {
        return List.of(Pair.of(TGTD_FILE, client), Pair.of(TGTD_FILE, INITIATOR),
                Pair.of(FILE, client), Pair.of(FILE, INITIATOR), Pair.of(RAM, client),
                Pair.of(RAM, INITIATOR), Pair.of(CEILING, LOOP));
    }

    private static List<Pair> and(List<Pair> pairs, Pair... more) {
        return Stream.concat(pairs.stream(), Arrays.stream(more))
                .toList();
    }

    private static Pair digests(Subject subject) {
        return Pair.of(subject, INITIATOR).withTerms(Terms.DIGESTS);
    }

    static Pair sessions(Subject subject, int count) {
        return Pair.of(subject, INITIATOR).withSessions(count);
    }

    /**
     * Returns the works with a name, and of those the pairs with a label, in which the pattern is found.
     *
     * @param works regular expression, no matter which case
     * @param pairs likewise
     */
    public Agenda choose(String works, String pairs) throws BenchException {
        Pattern work = pattern(works);
        Pattern pair = pattern(pairs);
        List<Entry> chosen = entries.stream()
                .filter(entry -> work.matcher(entry.work.name()).find())
                .map(entry -> new Entry(entry.work, entry.pairs.stream()
                        .filter(one -> pair.matcher(one.label()).find()).toList()))
                .filter(entry -> !entry.pairs.isEmpty()).toList();
        return new Agenda(chosen);
    }

    private static Pattern pattern(String text) throws BenchException {
        try {
            return Pattern.compile(text, Pattern.CASE_INSENSITIVE);
        } catch (PatternSyntaxException e) {
            throw new BenchException("'" + text + "' is not a pattern: " + e.getDescription(), e);
        }
    }
}
