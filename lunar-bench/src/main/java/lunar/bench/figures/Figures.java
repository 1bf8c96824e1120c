package lunar.bench.figures;

import lunar.bench.load.Lane;

import lunar.bench.harness.Arguments;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.WorkerThreads;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Processes;
import lunar.bench.harness.Server;
import lunar.bench.harness.Stamps;
import lunar.bench.harness.Work;
import lunar.bench.load.IscsiPerf;
import lunar.bench.load.Libiscsi;
import lunar.bench.load.LoadOrder;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import lunar.bench.harness.WorkerThreads.Job;

/**
 * Measures figures 3 and 4 of the jSCSI 2.0 paper with Lunar's target on loopback instead of Gigabit Ethernet: the
 * duration of reads and writes, as mean and 95 % confidence interval of 100 runs, by one and five threads, and by 1 to
 * 100 threads. The paper does not state the amount of data; here a run is a number of requests of 4 KiB at random
 * positions, divided among the threads, each of which has one request in flight. In addition, one thread with many
 * requests in flight, which the paper's initiator does not support. In place of Open-iSCSI through JNI, and from the
 * command line, it uses libiscsi through java.lang.foreign, and its {@code iscsi-perf}.
 *
 * <p>In every run each initiator performs each workload, in a rotating order, so that other load of the machine affects
 * all alike. All sessions are open and all threads started before the first run; data read is verified.
 */
public final class Figures {
    private static final int DISK_BYTES = 64 << 20;
    private static final int PERF_RUNS = 10;
    /** Factor by which a run with many requests in flight is longer, so that it reaches steady state. */
    private static final int DEEP_FACTOR = 10;
    private static final long SEED = 1;
    private static final String PERF = IscsiPerf.PROGRAM;

    /**
     * Plan from the command line.
     *
     * @param runs that count
     * @param warmUp runs before them
     * @param requests of a run
     * @param threads how many, one after the other
     * @param depth requests in flight, of the one thread that does not wait
     * @param seconds of one of the {@value #PERF_RUNS} runs of iscsi-perf
     * @param out folder for the plots
     */
    record Plan(int runs, int warmUp, int requests, List<Integer> threads, int depth, int seconds,
            Path lunar, Path directory, Path out, String commit) {
        static Plan parse(String... args) throws BenchException {
            var given = Arguments.parse(Map.of("runs", "100", "warm-up", "10", "requests", "1000",
                    "threads", "1,5,10,20,35,50,75,100", "depth", "32", "seconds", "2", "lunar",
                    "./lunar", "dir", "lunar-bench/target/bench", "out", "docs/figures", "commit",
                    "unknown"), args);
            List<Integer> threads;
            try {
                threads = Arrays.stream(given.text("threads").split(",", -1)).map(Integer::valueOf)
                        .sorted().distinct().toList();
            } catch (NumberFormatException e) {
                throw new BenchException("threads are numbers with commas between them", e);
            }
            var plan = new Plan(given.number("runs"), given.number("warm-up"),
                    given.number("requests"), threads, given.number("depth"),
                    given.number("seconds"), given.path("lunar"), given.path("dir"),
                    given.path("out"), given.text("commit"));
            if (plan.runs < 2 || plan.warmUp < 0 || plan.seconds < 1 || plan.depth < 2
                    || threads.getFirst() < 1 || plan.requests < threads.getLast()) {
                throw new BenchException("at least 2 runs, a request for each thread, and a depth "
                        + "and seconds above 1 and 0 are needed");
            }
            return plan;
        }
    }

    /** Work of a run. */
    record Cell(boolean write, int threads, int depth) {}

    /** An initiator with its sessions open. */
    private record Entry(Contender contender, List<Lane> lanes, Lane queue) {}

    private final Plan plan;
    private final PrintStream out;
    private final WorkerThreads crew;
    private final List<Entry> entries = new ArrayList<>();
    private final SplittableRandom random = new SplittableRandom(SEED);
    /** Milliseconds for 1,000 requests of each cell and initiator. */
    private final Map<Cell, Map<String, List<Double>>> times = new LinkedHashMap<>();

    private Figures(Plan plan, PrintStream out, WorkerThreads crew) {
        this.plan = plan;
        this.out = out;
        this.crew = crew;
    }

    /** Measures; writes tables to the terminal, plots and the figures in JSON to a folder. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("figures", args, (given, out) -> run(Plan.parse(given), out));
    }

    private static void run(Plan plan, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        Files.createDirectories(plan.directory);
        Files.createDirectories(plan.out);
        try (var server = Server.bench(plan.directory.resolve("figures.log"), "ram:" + DISK_BYTES,
                1);
                var crew = new WorkerThreads(plan.threads.getLast())) {
            var figures = new Figures(plan, out, crew);
            try {
                figures.open(server);
                figures.measure(server);
            } finally {
                figures.entries.forEach(entry -> entry.contender.close());
            }
            var report = new FiguresReport(plan, figures.labels(), figures.times,
                    Machine.describe(plan.directory, plan.commit));
            out.print(report.tables());
            report.write();
            out.println("written: figure-3.svg, figure-4.svg and figures.json in " + plan.out);
        }
    }

    private void open(Server server) throws BenchException {
        var lunar = new LunarContender(server.uri(0));
        open(lunar);
        int blockBytes = lunar.prepare();
        if (Libiscsi.isInstalled()) {
            open(new LibiscsiContender(server.port(), Server.IQN, blockBytes));
        } else {
            out.println("libiscsi is not installed (Debian's libiscsi7): left out");
        }
        open(new JscsiContender(server.port(), Server.IQN, blockBytes,
                plan.threads.getLast() + 1, plan.directory));
    }

    private void open(Contender contender) throws BenchException {
        var lanes = new ArrayList<Lane>();
        try {
            for (int i = 0; i < plan.threads.getLast(); i++) {
                lanes.add(contender.blocking());
            }
            entries.add(new Entry(contender, lanes, contender.queued(plan.depth)));
        } catch (BenchException e) {
            contender.close();
            throw e;
        }
    }

    /** Returns the labels in the order of tables and plots. */
    private List<String> labels() {
        var labels = new ArrayList<String>();
        entries.forEach(entry -> labels.add(entry.contender.label()));
        if (times.values().stream().anyMatch(one -> one.containsKey(PERF))) {
            labels.add(PERF);
        }
        return labels;
    }

    private List<Cell> cells() {
        var cells = new ArrayList<Cell>();
        for (boolean write : new boolean[]{false, true}) {
            plan.threads.forEach(threads -> cells.add(new Cell(write, threads, 1)));
            cells.add(new Cell(write, 1, plan.depth));
        }
        return cells;
    }

    private void measure(Server server) throws BenchException, InterruptedException {
        List<Cell> cells = cells();
        var order = new ArrayList<>(entries);
        boolean perf = IscsiPerf.isInstalled();
        if (!perf) {
            out.println("iscsi-perf is not installed (Debian's libiscsi-bin): left out");
        }
        for (int run = -plan.warmUp; run < plan.runs; run++) {
            if (run == -plan.warmUp || run == 0 || run % PERF_RUNS == 0) {
                out.println(run < 0 ? "warming up" : "run " + (run + 1) + " of " + plan.runs);
            }
            for (Cell cell : cells) {
                for (Entry entry : order) {
                    double ms = time(entry, cell);
                    if (run >= 0) {
                        add(cell, entry.contender.label(), ms);
                    }
                }
            }
            if (perf && run >= 0 && run % Math.max(1, plan.runs / PERF_RUNS) == 0) {
                perf(server, new Cell(false, 1, 1));
                perf(server, new Cell(false, 1, plan.depth));
            }
            Collections.rotate(order, 1);
        }
    }

    private void add(Cell cell, String label, double ms) {
        times.computeIfAbsent(cell, _ -> new LinkedHashMap<>())
                .computeIfAbsent(label, _ -> new ArrayList<>()).add(ms);
    }

    private double time(Entry entry, Cell cell) throws BenchException, InterruptedException {
        int requests = plan.requests * (cell.depth > 1 ? DEEP_FACTOR : 1);
        var jobs = new ArrayList<Job>();
        for (int i = 0; i < cell.threads; i++) {
            Lane lane = cell.depth > 1 ? entry.queue : entry.lanes.get(i);
            int count = requests * (i + 1) / cell.threads - requests * i / cell.threads;
            int[] places = random.ints(count, 0, DISK_BYTES / Stamps.BYTES).toArray();
            jobs.add(() -> lane.run(cell.write, places));
        }
        return crew.run(jobs) / 1e6 * 1000 / requests;
    }

    private void perf(Server server, Cell cell) throws BenchException, InterruptedException {
        Path log = plan.directory.resolve("iscsi-perf.log");
        var client = new IscsiPerf(log);
        var work = new Work("", Work.Operation.READ, Stamps.BYTES, true, cell.depth, false);
        double iops = client.parse(Processes.run(log, plan.seconds + 60,
                client.command(new LoadOrder(server.uri(0), DISK_BYTES, work, 1,
                        Pair.Terms.USUAL, 0, plan.seconds * 1000))))
                .iops();
        add(cell, PERF, 1e6 / iops);
    }
}
