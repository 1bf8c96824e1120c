package lunar.cli;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import lunar.block.StorageException;
import lunar.target.PortalSpec;
import lunar.target.ServerLimits;
import lunar.target.TargetServer;

/**
 * A plan at work: a server and its devices. Another plan may take its place while sessions go on. Closing ends
 * sessions, makes all stable and closes the devices. Thread-safe.
 */
final class RunningServer implements AutoCloseable {
    /** Name of a target that is given none. */
    static final String DEFAULT_IQN = "iqn.2026-11.org.lunar:disk";

    /** A LUN that is served. */
    record Served(String iqn, int lun, String uri, long sizeBytes) {}

    /** Time that hosts have to log out when the server stops. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    /** How often sizes are looked at, which others may change. */
    private static final long LOOK_SECONDS = 5;

    private final Console console;
    private final ServedDevices devices;
    private final TargetServer server;
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().daemon().name("lunar-sizes").unstarted(task));
    private final IsnsAnnouncement isns;
    private ServePlan plan;
    private List<TargetAssembly.Placed> placed;
    private List<Served> told;
    private boolean closed;

    private RunningServer(ServePlan plan, Console console) throws IOException, Failure {
        this.plan = plan;
        this.console = console;
        devices = new ServedDevices(plan.state(), console);
        ServedDevices.Round round = devices.round(plan.volumes());
        var assembly = new TargetAssembly(round, console);
        boolean started = false;
        try {
            server = listening(() -> builder(plan, assembly).start());
            started = true;
        } finally {
            if (!started) {
                round.cancel();
            }
        }
        round.keep(CompletableFuture.completedFuture(null));
        placed = List.copyOf(assembly.placed());
        told = luns();
        isns = new IsnsAnnouncement(server);
        isns.become(plan.isns());
    }

    static RunningServer start(ServePlan plan, Console console) throws IOException, Failure {
        var running = new RunningServer(plan, console);
        var _ = running.watch.scheduleWithFixedDelay(running::tellSizes, LOOK_SECONDS,
                LOOK_SECONDS, TimeUnit.SECONDS);
        return running;
    }

    /**
     * Becomes what another plan says; sessions that it does not concern go on undisturbed.
     *
     * @return what has changed, in lines for people
     * @throws IOException when a device or a portal cannot be opened; then nothing has changed
     * @throws Failure when the plan is wrong; then neither
     */
    synchronized List<String> reload(ServePlan wanted) throws IOException, Failure {
        if (closed) {
            return List.of();
        }
        ServedDevices.Round round = devices.round(wanted.volumes());
        var assembly = new TargetAssembly(round, console);
        List<InetSocketAddress> portalsBefore = portals();
        boolean done = false;
        try {
            CompletableFuture<Void> ended = listening(
                    () -> server.reconfigure(builder(wanted, assembly)));
            done = true;
            round.keep(ended);
        } finally {
            if (!done) {
                round.cancel();
            }
        }
        if (!wanted.state().equals(plan.state())) {
            console.remark("another 'state' directory is used from the next start on");
        }
        if (wanted.limits().connections() != plan.limits().connections()) {
            console.remark("another limit of 'connections' holds from the next start on");
        }
        if (wanted.limits().loops() != plan.limits().loops()) {
            console.remark("another number of 'loops' holds from the next start on");
        }
        plan = wanted;
        isns.become(plan.isns());
        placed = List.copyOf(assembly.placed());
        server.checkCapacities();
        List<Served> before = told;
        told = luns();
        return Changes.lines(before, told, portalsBefore, portals());
    }

    private static TargetServer.Builder builder(ServePlan plan, TargetAssembly assembly)
            throws IOException, Failure {
        TargetServer.Builder builder = TargetServer.builder()
                .limits(ServerLimits.DEFAULT.withMaxConnections(plan.limits().connections())
                        .withMaxConnectionsPerAddress(plan.limits().connectionsPerAddress()))
                .sessionLimits(plan.limits().sessions())
                .loops(plan.limits().loops())
                .announceResets(plan.announceResets())
                .offer(TargetServer.DEFAULT_OFFER.with(offer -> offer
                        .maxConnections(plan.limits().connectionsPerSession())
                        .headerDigest(plan.headerDigest().choice())
                        .dataDigest(plan.dataDigest().choice())));
        List<PortalSpec> portals = Exposure.portals(plan);
        Exposure.requireAuthentication(plan, portals);
        portals.forEach(builder::portal);
        for (ServePlan.Target target : plan.targets()) {
            builder.target(assembly.spec(target, Exposure.isExposed(target, portals)));
        }
        assembly.discoveryChap(plan.discoveryChap(), plan.chapAlgorithms(),
                !Exposure.isLoopback(portals))
                .ifPresent(builder::discoveryChap);
        return builder;
    }

    /** Something that may listen on new portals. */
    @FunctionalInterface
    private interface Listening<T> {
        T call() throws IOException, Failure;
    }

    private static <T> T listening(Listening<T> what) throws IOException, Failure {
        try {
            return what.call();
        } catch (BindException e) {
            throw new Failure("cannot listen on "
                    + String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT)
                    + "; choose another with --portal HOST:PORT, where port 0 is a free one", e);
        }
    }

    List<InetSocketAddress> portals() { return server.portals(); }

    synchronized List<Served> luns() {
        return placed.stream().map(each -> new Served(each.iqn(), each.lun(), each.uri(),
                each.device().sizeBytes())).toList();
    }

    /** Looks at the sizes of the devices; initiators hear of it where one has changed. */
    private void tellSizes() {
        server.checkCapacities();
        synchronized (this) {
            List<Served> before = told;
            told = luns();
            Changes.lines(before, told, List.of(), List.of()).forEach(console.out()::println);
        }
    }

    /** Sessions logged in now. */
    int sessionCount() { return server.sessionCount(); }

    /** Memory lent to commands now. */
    long bufferBytesInUse() { return server.bufferBytesInUse(); }

    @Override
    public synchronized void close() throws StorageException {
        if (closed) {
            return;
        }
        closed = true;
        watch.shutdown();
        isns.close(); // no initiator shall look for them here any more
        try (devices) {
            server.shutDown(GRACE);
        }
    }
}
