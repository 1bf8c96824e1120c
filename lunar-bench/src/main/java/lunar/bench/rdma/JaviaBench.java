package lunar.bench.rdma;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import lunar.bench.harness.Arguments;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Cores;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Processes;
import lunar.bench.harness.Results;
import lunar.rdma.RdmaUnavailableException;
import lunar.rdma.probe.Probe;
import lunar.rdma.probe.Variant;
import org.jspecify.annotations.Nullable;

/**
 * Repeats tables 2.2 to 2.6 of the Javia-I thesis: the cost of native calls and copies, then round-trip time and
 * bandwidth of each variant and of a C program over the same libfabric provider. The measurements of a round are taken
 * in random order, each between two processes with a core and a connection of their own. Prints the results, and writes
 * them to JAVIA.json and JAVIA.md.
 */
public final class JaviaBench {
    /** Rounds that are not counted. */
    private static final int WARM_UPS = 3;

    /** A measurement to take. The variant is null for raw C. */
    private record Turn(String provider, @Nullable Variant variant, Mode mode, int messageBytes) {}

    private JaviaBench() {}

    /** Runs the benchmark. See {@code scripts/bench}. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("javia", args, JaviaBench::run);
    }

    private static void run(String[] args, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        var given = Arguments.parse(Map.of("providers", "tcp,shm", "rounds", "5", "count", "2000",
                "mib", "64", "sizes", "4,64,1024,4096,16384,65536,262144,1048576", "seed", "1",
                "lunar", "./lunar", "dir", "lunar-bench/target/bench", "commit", "unknown"), args);
        Path directory = given.path("dir");
        Files.createDirectories(directory);
        Optional<RawC> raw = RawC.compile(directory);
        if (raw.isEmpty()) {
            out.println("raw C is left out: no cc, or no headers of libfabric"
                    + " (Debian: apt-get install gcc libfabric-dev)");
        }
        String load = load();
        List<BorderCosts.Cost> costs = new ArrayList<>(
                BorderCosts.measure(given.number("rounds")));
        var figures = new ArrayList<JaviaFigure>();
        var ends = new LinkedHashMap<String, JavaEnds>();
        try {
            for (String provider : given.text("providers").split(",", -1)) {
                try {
                    ends.put(provider, new JavaEnds("libfabric:" + provider));
                } catch (RdmaUnavailableException e) {
                    out.println(provider + " is left out: " + e.getMessage());
                }
            }
            if (ends.isEmpty()) {
                throw new BenchException("no provider to measure (Debian: apt-get install"
                        + " libfabric1)");
            }
            for (JavaEnds each : ends.values()) {
                costs.addAll(BorderCosts.registration(each.domain(), given.number("rounds")));
            }
            measure(given, raw, ends, figures);
        } finally {
            for (JavaEnds each : ends.values()) {
                each.close();
            }
        }
        String run = String.format(Locale.ROOT,
                "%d rounds, %d round trips each, %d MiB each for bandwidth, seed %d; load of the "
                        + "machine %s before, %s after",
                given.number("rounds"), given.number("count"), given.number("mib"),
                given.number("seed"), load, load());
        write(directory, run, Machine.describe(directory, given.text("commit")), costs, figures,
                out);
    }

    private static void measure(Arguments given, Optional<RawC> raw, Map<String, JavaEnds> ends,
            List<JaviaFigure> figures) throws BenchException, IOException, InterruptedException {
        var turns = new ArrayList<Turn>();
        for (String provider : ends.keySet()) {
            for (int bytes : Arrays.stream(given.text("sizes").split(",", -1))
                    .mapToInt(Integer::parseInt).toArray()) {
                for (Mode mode : Mode.values()) {
                    for (Variant variant : Variant.values()) {
                        turns.add(new Turn(provider, variant, mode, bytes));
                    }
                    if (raw.isPresent()) {
                        turns.add(new Turn(provider, null, mode, bytes));
                    }
                }
            }
        }
        Cores.bind(ProcessHandle.current().pid(), Cores.first());
        var random = new Random(given.number("seed"));
        for (int round = 1 - WARM_UPS; round <= given.number("rounds"); round++) {
            Collections.shuffle(turns, random);
            for (Turn turn : turns) {
                int count = count(given, turn);
                long nanos = turn.variant == null
                        ? raw.orElseThrow().measure(turn.provider, turn.mode, turn.messageBytes,
                                count)
                        : Objects.requireNonNull(ends.get(turn.provider))
                                .measure(turn.variant, turn.mode, turn.messageBytes, count);
                if (round > 0) {
                    figures.add(new JaviaFigure(round, turn.provider,
                            turn.variant == null ? RawC.NAME : turn.variant.text(), turn.mode,
                            turn.messageBytes,
                            turn.mode.figure(turn.messageBytes, count, nanos)));
                }
            }
        }
    }

    /** Number of messages of a measurement: fewer if they are long. */
    private static int count(Arguments given, Turn turn) throws BenchException {
        long bytes = given.number("mib") * (1L << 20);
        return turn.mode == Mode.ECHO
                ? Math.clamp(bytes / turn.messageBytes, 16, given.number("count"))
                : Probe.messages(Math.clamp(bytes / turn.messageBytes, 64, 50_000));
    }

    private static String load() throws BenchException {
        return Processes.read(Path.of("/proc/loadavg")).split(" ", 2)[0];
    }

    private static void write(Path directory, String run, Map<String, String> machine,
            List<BorderCosts.Cost> costs, List<JaviaFigure> figures, PrintStream out)
            throws IOException {
        var markdown = new StringBuilder(run).append("\n");
        out.println(run);
        for (JaviaReport.Section section : new JaviaReport(costs, figures).sections()) {
            out.println("\n" + section.heading() + "\n\n" + section.table().plain());
            markdown.append("\n### ").append(section.heading()).append("\n\n")
                    .append(section.table().markdown());
        }
        var tree = new LinkedHashMap<String, Object>();
        tree.put("machine", machine);
        tree.put("run", run);
        tree.put("costs", costs);
        tree.put("figures", figures);
        Files.writeString(directory.resolve("JAVIA.json"), Results.json(tree));
        Files.writeString(directory.resolve("JAVIA.md"), markdown);
        out.println("written: JAVIA.json and JAVIA.md in " + directory);
    }
}
