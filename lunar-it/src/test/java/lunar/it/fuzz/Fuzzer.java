package lunar.it.fuzz;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import lunar.block.StorageException;

/**
 * Sends mutated PDU streams to a running target, with an unmutated session beside them that must not be affected, and
 * checks that the target sends only valid PDUs, logs one line for each stream that it ends, and leaks nothing. What is
 * sent depends on the seed alone, except for the responses to the target's CHAP challenges.
 *
 * <p>Run alone, properties: {@code lunar.seed} (random), {@code lunar.fuzz.streams} (1,000,000), {@code
 * lunar.fuzz.first} (0; number of the first connection, to continue at a failure).
 */
public final class Fuzzer {
    /** Connections at once. */
    private static final int WIDTH = 12;

    /** Connections besides, that wait for the target to lose its patience. */
    private static final int MAX_STALLED = 6;

    private static final int STAGING = 256 << 10;
    private static final int TENTH = 10;
    private static final long LONG_RUN = 500_000;
    private static final long QUIET_MS = 120_000;
    private static final long PROGRESS_MS = 2_000;

    private final long seed;
    private final long wanted;
    private final Planner planner;
    private final LogWatch log;
    private final FuzzedServer server;
    private final KeptSessions kept;
    private final PrintStream console;
    private final List<PlanConnection> open = new ArrayList<>();
    private final Map<String, Integer> seen = new TreeMap<>();
    private final MemorySegment staging = Arena.ofAuto().allocate(STAGING);
    private final ByteBuffer buffer = staging.asByteBuffer();
    private final long startMs = now();
    private long number;
    private long streams;
    private long survived;
    private long connections;
    private long resets;
    private long bytes;
    private int stalled;
    private long progressMs = startMs;

    private Fuzzer(long seed, long wanted, long first, Planner planner, LogWatch log,
            FuzzedServer server, KeptSessions kept, PrintStream console) {
        this.seed = seed;
        this.wanted = wanted;
        number = first;
        this.planner = planner;
        this.log = log;
        this.server = server;
        this.kept = kept;
        this.console = console;
    }

    /** Runs the fuzzer; exit status 0 only if the target held. */
    public static void main(String[] arguments) throws Exception {
        String fixed = System.getProperty("lunar.seed", "");
        long seed = fixed.isEmpty() ? new Random().nextLong() : Long.parseLong(fixed);
        Path failures = Path.of(System.getProperty("lunar.fuzz.failures", "build/fuzz"));
        try {
            long streams = Long.getLong("lunar.fuzz.streams", 1_000_000);
            run(seed, streams, Long.getLong("lunar.fuzz.first", 0), streams >= LONG_RUN, failures,
                    System.out);
        } catch (FuzzFailure e) {
            System.err.println("fuzz: " + e.getMessage());
            System.exit(1);
        }
        System.exit(0);
    }

    /**
     * Runs the fuzzer.
     *
     * @param first number of the first connection; 0 but to continue from a failure
     * @param resident whether resident memory is looked at too: with a heap of one size, and when all is compiled
     * @param failures where the bytes of a failure are written
     * @throws FuzzFailure if the target did what it must not
     */
    static void run(long seed, long streams, long first, boolean resident, Path failures,
            PrintStream console) throws IOException, StorageException, InterruptedException {
        console.printf("fuzz: seed %d, %,d streams%n", seed, streams);
        Path folder = Files.createTempDirectory("lunar-fuzz");
        try (var log = new LogWatch();
                var server = new FuzzedServer(folder, seed);
                var kept = new KeptSessions(server.portal(), seed)) {
            var fuzzer = new Fuzzer(seed, streams, first, new Planner(seed, Captures.all()), log,
                    server, kept, console);
            fuzzer.run(resident, failures);
        } finally {
            Files.deleteIfExists(folder.resolve("disk"));
            Files.deleteIfExists(folder);
        }
    }

    private void run(boolean resident, Path failures) throws IOException, InterruptedException {
        try (var selector = Selector.open()) {
            send(selector, wanted / TENTH);
            Figures before = quiet();
            console.printf("fuzz: after %,d streams: %s%n", streams, before);
            send(selector, wanted / 2);
            Figures half = quiet();
            console.printf("fuzz: after %,d streams: %s%n", streams, half);
            send(selector, wanted);
            Figures after = quiet();
            console.printf("fuzz: after %,d streams: %s%n", streams, after);
            report();
            List<String> grown = new ArrayList<>(after.growthSince(before));
            if (resident) {
                after.residentGrowthSince(half).ifPresent(grown::add);
            }
            if (!grown.isEmpty()) {
                throw new FuzzFailure("grown: " + grown);
            }
        } catch (FuzzFailure e) {
            Path file = write(failures, e);
            throw new FuzzFailure(e.getMessage() + "\n  seed " + seed + ", connection " + number
                    + ", bytes in " + file, e);
        }
    }

    /** Sends until so many streams have been sent in all, and all connections have ended. */
    private void send(Selector selector, long until) throws IOException {
        while (streams < until || !open.isEmpty()) {
            while (streams < until && open.size() - stalled < WIDTH) {
                start(selector);
            }
            selector.select(key -> {
                PlanConnection connection = (PlanConnection) key.attachment();
                named(connection, () -> connection.ready(staging, buffer));
            }, 20);
            long now = now();
            for (int i = open.size() - 1; i >= 0; i--) {
                PlanConnection connection = open.get(i);
                if (connection.isOver()) {
                    named(connection, () -> ended(connection));
                    open.remove(i);
                } else {
                    named(connection, () -> connection.tick(now));
                }
            }
            log.check();
            kept.check();
            progress(now);
        }
        selector.selectNow(); // lets go of cancelled keys
    }

    private void start(Selector selector) throws IOException {
        Plan plan = planner.plan(number++);
        if (plan.ending() == Plan.Ending.STALL) {
            if (stalled >= MAX_STALLED) {
                plan = new Plan(plan.number(), plan.bytes(), plan.streams(), plan.clean(),
                        Plan.Ending.HALF_CLOSE, plan.chap());
            } else {
                stalled++;
            }
        }
        var connection = new PlanConnection(plan, server.portal(), selector, seen, now());
        log.opened(connection.port());
        open.add(connection);
        connections++;
    }

    private void ended(PlanConnection connection) {
        if (connection.plan.ending() == Plan.Ending.STALL) {
            stalled--;
        }
        streams += connection.streamsSeen();
        survived += connection.answeredProbes();
        bytes += connection.byteCount();
        if (connection.wasReset()) {
            resets++;
        }
    }

    private static void named(PlanConnection connection, Runnable what) {
        try {
            what.run();
        } catch (FuzzFailure e) {
            throw new FuzzFailure("connection " + connection.plan.number() + ": " + e.getMessage(),
                    e);
        }
    }

    /** Waits until only the kept sessions are left, then measures. */
    private Figures quiet() throws InterruptedException, IOException {
        kept.check();
        kept.pause();
        try {
            long deadline = now() + QUIET_MS;
            while (server.sessionCount() != KeptSessions.COUNT || server.bufferBytesInUse() != 0) {
                if (now() > deadline) {
                    throw new FuzzFailure("with no connection left, " + server.sessionCount()
                            + " sessions and " + server.bufferBytesInUse()
                            + " bytes of buffers are");
                }
                Thread.sleep(20);
            }
            Figures figures = Figures.measure();
            log.checkCounts();
            return figures;
        } finally {
            kept.resume();
        }
    }

    private void progress(long now) {
        if (now - progressMs >= PROGRESS_MS) {
            progressMs = now;
            console.printf("fuzz: %,d of %,d streams, %,d/s, %,d verified reads and writes%n",
                    streams, wanted, streams * 1000 / Math.max(1, now - startMs),
                    kept.operations());
        }
    }

    private void report() {
        long ms = Math.max(1, now() - startMs);
        console.printf("fuzz: %,d streams (%,d survived) on %,d connections, %,d MiB, in %d s"
                + " (%,d/s)%n", streams, survived, connections, bytes >> 20, ms / 1000,
                streams * 1000 / ms);
        console.printf("fuzz: %,d log lines, %,d connections reset by the target, %,d verified"
                + " reads and writes beside%n", log.warnings(), resets, kept.operations());
        seen.forEach((kind, count) -> console.printf("fuzz: %,12d %s%n", count, kind));
    }

    /** The failure, and what the connections that were open sent; seed and number make them again. */
    private Path write(Path folder, FuzzFailure failure) throws IOException {
        Files.createDirectories(folder);
        var text = new StringBuilder("seed " + seed + "\n");
        var trace = new java.io.StringWriter();
        failure.printStackTrace(new java.io.PrintWriter(trace));
        text.append(trace).append('\n');
        for (PlanConnection connection : open) {
            text.append("connection ").append(connection.plan.number()).append(" port ")
                    .append(connection.port()).append(' ').append(connection.plan.ending())
                    .append(connection.plan.clean() ? " clean" : "").append("\n  log: ")
                    .append(log.last(connection.port())).append('\n');
            for (byte[] piece : connection.plan.bytes()) {
                text.append("  ").append(HexFormat.of().formatHex(piece)).append('\n');
            }
        }
        Path file = folder.resolve("failure-" + seed + ".txt");
        return Files.writeString(file, text);
    }

    private static long now() { return System.nanoTime() / 1_000_000; }
}
