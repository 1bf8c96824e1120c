package lunar.bench.session;

import lunar.bench.harness.Arguments;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.WorkerThreads;
import lunar.bench.harness.InParallel;
import lunar.bench.harness.Latencies;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Results;
import lunar.bench.harness.Server;
import lunar.bench.harness.Stamps;
import lunar.bench.harness.Work;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.IscsiUri;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.scsi.Lun;

/**
 * Measures the cost of concurrency to the initiator: many threads with many requests in flight on one LUN, and many
 * LUNs open in one JVM, which are all read and written concurrently. The target is a separate process; everything uses
 * one initiator. All data read is verified.
 */
public final class ScaleBench {
    private static final String DISK = "ram:1MiB";
    private static final int PIECES = (1 << 20) / Stamps.BYTES;
    private static final String BIG_DISK = "ram:64MiB";
    private static final int RAMP_SECONDS = 3;
    /** Requests in flight of each LUN, when all are at work. */
    private static final int LUN_DEPTH = 4;
    private static final int WARM_UP_LUNS = 20;
    private static final double KIB = 1024;

    /**
     * Plan from the command line.
     *
     * @param threads at one LUN
     * @param depth requests in flight there, of all threads together
     * @param luns open at once
     * @param seconds of each measurement
     */
    record Plan(int threads, int depth, int luns, int seconds, Path directory, String commit) {
        static Plan parse(String... args) throws BenchException {
            var given = Arguments.parse(Map.of("threads", "64", "depth", "1024", "luns", "500",
                    "seconds", "5", "lunar", "./lunar", "dir", "lunar-bench/target/bench", "commit",
                    "unknown"), args);
            var plan = new Plan(given.number("threads"), given.number("depth"),
                    given.number("luns"), given.number("seconds"), given.path("dir"),
                    given.text("commit"));
            if (plan.threads < 1 || plan.depth < plan.threads || plan.luns < 1
                    || plan.seconds < 1) {
                throw new BenchException(
                        "at least one request per thread, one LUN and one second are needed");
            }
            return plan;
        }
    }

    /** Memory and threads of this process at a moment, its heap after a collection. */
    record Usage(long heapBytes, int threads) {
        static Usage now() {
            for (int i = 0; i < 3; i++) { // objects freed by the first may have kept others alive
                System.gc();
            }
            return new Usage(
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                    ManagementFactory.getThreadMXBean().getThreadCount());
        }
    }

    /** Result of reading and writing. */
    record Work(double iops, double p50Us, double p99Us) {
        static Work of(Latencies latencies, int seconds) {
            return new Work(latencies.count() / (double) seconds, latencies.percentile(0.5),
                    latencies.percentile(0.99));
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%.0f/s, p50 %.0f us, p99 %.0f us", iops, p50Us,
                    p99Us);
        }
    }

    /** @param threads threads of the process beside those that ask for the requests */
    record OneLun(int threads, int depth, Work work, long heapBytes, int otherThreads) {}

    /** @param how sessions and LUNs hang together */
    record ManyLuns(String how, int luns, Usage before, Usage open, Work work, Usage after) {}

    private final Plan plan;
    private final PrintStream out;
    private final Map<String, Object> results = new LinkedHashMap<>();

    private ScaleBench(Plan plan, PrintStream out) {
        this.plan = plan;
        this.out = out;
    }

    /** Measures, prints the figures and writes them to SCALE.json. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("scale", args, (given, out) -> new ScaleBench(Plan.parse(given), out).run());
    }

    private static Initiator initiator() throws IOException {
        return Initiator.create(InitiatorOptions.of("iqn.2026-11.org.lunar:scale")
                .withLoopCount(Runtime.getRuntime().availableProcessors()));
    }

    private static SessionOptions login(Server server) {
        return IscsiUri.parse(server.uri(0)).sessionOptions();
    }

    private void run() throws BenchException, IOException, InterruptedException {
        Files.createDirectories(plan.directory);
        results.put("machine", Machine.describe(plan.directory, plan.commit));
        oneLun();
        var many = new ArrayList<ManyLuns>();
        try (var server = Server.bench(plan.directory.resolve("scale.log"), DISK, plan.luns)) {
            many.add(luns("of one session", server, this::openInOneSession));
            many.add(luns("each with a session of its own", server, this::openWithSessions));
        }
        results.put("luns", many);
        Path file = plan.directory.resolve("SCALE.json");
        Files.writeString(file, Results.json(results));
        out.println("written: " + file);
    }

    // --- one LUN ---

    private void oneLun() throws BenchException, IOException, InterruptedException {
        try (var server = Server.bench(plan.directory.resolve("scale.log"), BIG_DISK, 1);
                var initiator = initiator();
                Session session = initiator.login(login(server).withQueueDepth(plan.depth));
                BlockDevice lun = session.open(Lun.of(0))) {
            Stamps.fill(lun, 0);
            var found = new ArrayList<OneLun>();
            int[][] loads = {{1, 1}, {1, 32}, {plan.threads, plan.threads},
                    {plan.threads, plan.depth}};
            for (int[] load : loads) {
                found.add(oneLun(lun, load[0], load[1]));
                OneLun one = found.getLast();
                out.println(String.format(Locale.ROOT,
                        "%3d threads, %5d requests in flight on one LUN: %s; heap %.1f MiB, "
                                + "%d other threads",
                        one.threads, one.depth, one.work, one.heapBytes / KIB / KIB,
                        one.otherThreads));
            }
            results.put("oneLun", found);
        }
    }

    private OneLun oneLun(BlockDevice lun, int threads, int depth)
            throws BenchException, InterruptedException {
        try (var crew = new WorkerThreads(threads);
                var load = new ThreadedIo(lun, threads, depth)) {
            Latencies latencies = load.run(crew, RAMP_SECONDS, plan.seconds);
            Usage usage = Usage.now();
            return new OneLun(threads, depth, Work.of(latencies, plan.seconds), usage.heapBytes,
                    usage.threads - threads);
        }
    }

    // --- many LUNs ---

    /** Opens LUNs, and lets all of them go. */
    private interface Opened extends AutoCloseable {
        List<BlockDevice> devices();

        @Override
        void close() throws StorageException;
    }

    @FunctionalInterface
    private interface Opener {
        Opened open(Initiator initiator, Server server, int count)
                throws BenchException, IOException, InterruptedException;
    }

    private Opened openInOneSession(Initiator initiator, Server server, int count)
            throws IOException {
        Session session = initiator.login(login(server).withQueueDepth(plan.depth));
        var devices = new ArrayList<BlockDevice>();
        for (int lun = 0; lun < count; lun++) {
            devices.add(session.open(Lun.of(lun)));
        }
        return new Opened() {
            @Override
            public List<BlockDevice> devices() { return devices; }

            @Override
            public void close() { session.close(); }
        };
    }

    /** Opens LUNs as a host with that many targets does. */
    private Opened openWithSessions(Initiator initiator, Server server, int count)
            throws BenchException, InterruptedException {
        SessionOptions login = login(server);
        List<BlockDevice> devices = InParallel.run(count, lun -> MultipathDevice.open(initiator,
                MultipathOptions.of(List.of(login), Lun.of(lun))));
        return new Opened() {
            @Override
            public List<BlockDevice> devices() { return devices; }

            @Override
            public void close() throws StorageException {
                for (BlockDevice device : devices) {
                    device.close();
                }
            }
        };
    }

    private ManyLuns luns(String how, Server server, Opener opener)
            throws BenchException, IOException, InterruptedException {
        try (var initiator = initiator()) {
            try (var few = opener.open(initiator, server, Math.min(WARM_UP_LUNS, plan.luns))) {
                Work _ = work(few.devices(), 1); // what is made once, for all that come
            }
            Usage before = Usage.now();
            try (var opened = opener.open(initiator, server, plan.luns)) {
                Usage open = Usage.now();
                Work work = work(opened.devices(), plan.seconds);
                var result = new ManyLuns(how, plan.luns, before, open, work, Usage.now());
                out.println(String.format(Locale.ROOT,
                        "%d LUNs %s: %.2f KiB of heap each, %.2f when they have worked, %d more "
                                + "threads (of %d); all at work, depth %d: %s",
                        plan.luns, how, perLun(before, open), perLun(before, result.after),
                        result.after.threads - before.threads, result.after.threads, LUN_DEPTH,
                        work));
                return result;
            }
        }
    }

    private double perLun(Usage before, Usage after) {
        return (after.heapBytes - before.heapBytes) / KIB / plan.luns;
    }

    private static Work work(List<BlockDevice> devices, int seconds)
            throws BenchException, InterruptedException {
        var disks = new ArrayList<RandomIo.Disk>();
        try {
            for (BlockDevice device : devices) {
                disks.add(new RandomIo.Disk(device, disks.size() * PIECES));
                Stamps.fill(device, disks.getLast().firstStamp());
            }
        } catch (StorageException e) {
            throw new BenchException(e.getMessage() + "", e);
        }
        return Work.of(RandomIo.run(disks, LUN_DEPTH, seconds > 1 ? RAMP_SECONDS : 0, seconds),
                seconds);
    }
}
