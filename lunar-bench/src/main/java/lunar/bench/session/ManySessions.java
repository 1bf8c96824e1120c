package lunar.bench.session;

import lunar.bench.harness.Arguments;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.InParallel;
import lunar.bench.harness.Latencies;
import lunar.bench.harness.Server;
import lunar.bench.harness.ServerProbe;
import lunar.bench.harness.Stamps;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.IscsiUri;
import lunar.initiator.LunDevice;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.scsi.Lun;

/**
 * Measures the cost of sessions in a {@code lunar serve} process: thousands of idle sessions that only answer pings,
 * and some hundreds of active ones that read and write, which are measured again after the idle ones have logged out.
 * All come from this process, over TCP on the loopback interface; every session has opened its LUN, like a host, before
 * it is measured.
 */
public final class ManySessions {
    private static final long DEVICE_BYTES = 256L << 20;
    private static final int WARM_UP_SESSIONS = 500;
    private static final int WARM_UP_DEVICES = 16;
    private static final int WARM_UP_SECONDS = 5;
    private static final int RAMP_SECONDS = 3;
    private static final int SETTLE_SECONDS = 3;
    private static final int DEPTH = 4;
    private static final int OTHER_FILES = 200;

    /**
     * Plan from the command line.
     *
     * @param idle sessions that do nothing
     * @param active sessions that read and write beside them
     * @param seconds of the reading and writing
     * @param idleSeconds of the watching before it
     * @param result JSON file
     */
    record Plan(int idle, int active, int seconds, int idleSeconds, Path lunar, Path directory,
            Path result, String commit) {
        static Plan parse(String... args) throws BenchException {
            var given = Arguments.parse(
                    Map.of("idle", "2000", "active", "200", "seconds", "10", "idle-seconds", "10",
                            "lunar", "./lunar", "dir", "lunar-bench/target/bench", "result",
                            "build/sessions.json", "commit", "unknown"),
                    args);
            var plan = new Plan(given.number("idle"), given.number("active"),
                    given.number("seconds"), given.number("idle-seconds"), given.path("lunar"),
                    given.path("dir"), given.path("result"), given.text("commit"));
            if (plan.idle < 1 || plan.active < 1 || plan.seconds < 1 || plan.idleSeconds < 1) {
                throw new BenchException("sessions and seconds must be greater than 0");
            }
            return plan;
        }
    }

    /** A session and the LUN that it has opened. */
    private record Host(Session session, LunDevice lun) {}

    private final Plan plan;
    private final PrintStream out;
    private final ServerProbe probe;
    private final SessionOptions login;
    private final Initiator initiator;

    private ManySessions(Plan plan, PrintStream out, ServerProbe probe, SessionOptions login,
            Initiator initiator) {
        this.plan = plan;
        this.out = out;
        this.probe = probe;
        this.login = login;
        this.initiator = initiator;
    }

    /** Measures, writes a table to the terminal and the figures to a JSON file. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("sessions", args, (given, out) -> run(Plan.parse(given), out));
    }

    private static void run(Plan plan, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        Files.createDirectories(plan.directory);
        Files.createDirectories(Objects.requireNonNull(plan.result.getParent()));
        int sessions = plan.idle + plan.active;
        if (ServerProbe.maxOpenFiles("self") < sessions + OTHER_FILES) {
            throw new BenchException("a process may open " + ServerProbe.maxOpenFiles("self")
                    + " files, which is too few for " + sessions + " sessions; see ulimit -n");
        }
        try (var server = Server.watchedLunar(plan.lunar, plan.directory.resolve("sessions.log"),
                DEVICE_BYTES);
                var initiator = Initiator.create(InitiatorOptions.of("iqn.2026-11.org.lunar:hosts")
                        .withLoopCount(Runtime.getRuntime().availableProcessors()))) {
            SessionOptions login = IscsiUri.parse(server.uri(0)).sessionOptions()
                    .withQueueDepth(DEPTH);
            var bench = new ManySessions(plan, out, new ServerProbe(server.pid(), plan.directory),
                    login, initiator);
            SessionFigures figures = bench.measure();
            Files.writeString(plan.result, figures.json(plan.commit));
            out.print(figures.table());
            out.println("written: " + plan.result);
        }
    }

    private SessionFigures measure() throws BenchException, InterruptedException {
        out.println("warming up");
        List<Host> warm = open(WARM_UP_SESSIONS);
        try {
            Stamps.fill(warm.getFirst().lun, 0);
        } catch (StorageException e) {
            throw new BenchException("a session failed: " + e.getMessage(), e);
        }
        Latencies _ = RandomIo.run(disks(warm.subList(0, WARM_UP_DEVICES)), DEPTH, 0,
                WARM_UP_SECONDS);
        close(warm);
        TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
        ServerProbe.Snapshot empty = probe.snapshot("empty");

        out.println("logging in " + plan.idle + " sessions");
        long startNs = System.nanoTime();
        List<Session> sessions = InParallel.run(plan.idle, _ -> initiator.login(login));
        double loginsPerSecond = plan.idle * 1e9 / (System.nanoTime() - startNs);
        List<Host> idle = InParallel.run(plan.idle, i -> host(sessions.get(i)));
        ServerProbe.Snapshot idling = probe.snapshot("idle");
        TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
        out.println("observing them for " + plan.idleSeconds + " s");
        double idleCpu = probe.cpuSeconds();
        TimeUnit.SECONDS.sleep(plan.idleSeconds);
        idleCpu = (probe.cpuSeconds() - idleCpu) / plan.idleSeconds;

        out.println("reading and writing by " + plan.active + " more for " + plan.seconds + " s");
        List<Host> active = open(plan.active);
        SessionFigures.Work beside = work(active);
        ServerProbe.Snapshot working = probe.snapshot("active");

        close(active);
        startNs = System.nanoTime();
        close(idle);
        double logoutsPerSecond = plan.idle * 1e9 / (System.nanoTime() - startNs);
        TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
        ServerProbe.Snapshot after = probe.snapshot("after");

        // Last, when all code is as warm as before: what the idle ones cost is not told too low.
        out.println("repeating without the idle sessions");
        active = open(plan.active);
        SessionFigures.Work alone = work(active);
        close(active);
        return new SessionFigures(plan.idle, plan.active, DEPTH, empty, idling, working, after,
                loginsPerSecond, logoutsPerSecond, idleCpu, beside, alone);
    }

    /** Reads and writes by these for a while. */
    private SessionFigures.Work work(List<Host> active)
            throws BenchException, InterruptedException {
        double cpu = probe.cpuSeconds();
        long startNs = System.nanoTime();
        Latencies latencies = RandomIo.run(disks(active), DEPTH, RAMP_SECONDS, plan.seconds);
        cpu = (probe.cpuSeconds() - cpu) * 1e9 / (System.nanoTime() - startNs);
        return new SessionFigures.Work(latencies.count() / (double) plan.seconds,
                latencies.percentile(0.5), latencies.percentile(0.99), cpu);
    }

    private List<Host> open(int count) throws BenchException, InterruptedException {
        return InParallel.run(count, _ -> host(initiator.login(login)));
    }

    private static Host host(Session session) throws IOException {
        return new Host(session, session.open(Lun.of(0)));
    }

    /** All are the same. */
    private static List<RandomIo.Disk> disks(List<Host> hosts) {
        return hosts.stream().map(host -> new RandomIo.Disk(host.lun, 0)).toList();
    }

    private static void close(List<Host> hosts) throws BenchException, InterruptedException {
        List<Boolean> _ = InParallel.run(hosts.size(), i -> {
            hosts.get(i).session.close();
            return true;
        });
    }
}
