package lunar.target;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import lunar.iscsi.ChapPolicy;
import lunar.iscsi.DiscoveredTarget;
import lunar.iscsi.LoginLimits;
import lunar.iscsi.LoginPolicy;
import lunar.iscsi.Offer;
import lunar.iscsi.TargetLogin;
import lunar.iscsi.TaskReporting;
import lunar.iscsi.spi.DirectMemory;
import lunar.iscsi.spi.PduReceiver;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;
import lunar.scsi.TargetPortGroups;
import lunar.scsi.target.Buffers;
import org.jspecify.annotations.Nullable;

/**
 * An iSCSI target server: portals, target nodes and their sessions. Started by {@link Builder#start}; runs until
 * {@link #close}. Thread-safe.
 */
public final class TargetServer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    /** Connections of a session, where the initiator wants several. */
    private static final int MAX_CONNECTIONS = 8;

    /**
     * The default offer of a server. It accepts data in any order, and wants no Time2Wait: a login that replaces a lost
     * session is answered when the commands of that session have ended, so waiting before the login gains nothing.
     */
    public static final Offer DEFAULT_OFFER = Offer.DEFAULT.with(offer -> offer.taskReporting(
            List.of(TaskReporting.FAST_ABORT, TaskReporting.RESPONSE_FENCE, TaskReporting.RFC3720))
            .protocolLevel(FullFeature.RFC_7144).maxConnections(MAX_CONNECTIONS)
            .errorRecoveryLevel(2).dataPduInOrder(false).dataSequenceInOrder(false));

    /** Time to log out for a connection when its portal or target is removed. */
    static final long LEAVING_MS = 2_000;

    /** Divisor of the JVM's direct memory for the part that commands may use; transports and devices need some too. */
    private static final int PART_OF_DIRECT = 2;

    /** Divisor of the JVM's direct memory for the part that may be unfreed buffers of commands. */
    private static final int UNFREED_PART = 8;

    /** Default number of threads that serve connections: one per processor, at most 8. */
    public static final int DEFAULT_LOOPS = Math.clamp(Runtime.getRuntime().availableProcessors(),
            1, 8);

    private final ServerLimits limits;
    private volatile boolean announcesResets;
    private final Buffers buffers;
    private final Sessions sessions;
    private final UnitRegistry units;
    private final Portals portals;
    private final Discovery discovery;
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private final PendingConnections pending;
    private final WarningLimiter warnings = new WarningLimiter(System::nanoTime,
            line -> LOG.log(System.Logger.Level.WARNING, "{0}", line));
    private final LoggedInConnections loggedIn;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final SecureRandom random = new SecureRandom();
    private final TransportProvider.Loops loops;

    /** Listeners for changes of the targets. */
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    /** Whether logins are refused. */
    private volatile boolean closing;

    /** Lock for changes of {@link #targets}. */
    private final Object changing = new Object();

    private volatile Admissions admissions;

    /** Targets by name; replaced as a whole. */
    private volatile Map<String, TargetNode> targets = Map.of();

    private TargetServer(Builder from) throws IOException {
        limits = from.limits;
        announcesResets = from.announcesResets;
        long directBytes = DirectMemory.limitBytes();
        buffers = new Buffers(limits.maxTransferBytes(),
                Math.min(limits.maxBufferBytes(), directBytes / PART_OF_DIRECT),
                directBytes / UNFREED_PART);
        loggedIn = new LoggedInConnections(limits);
        sessions = new Sessions(from.sessionLimits, loggedIn);
        pending = new PendingConnections(limits);
        units = new UnitRegistry(limits);
        admissions = new Admissions(this, from.offer, from.discoveryChap);
        discovery = new Discovery(this);
        loops = provider().start("lunar-target", from.loopCount);
        portals = new Portals(loops, this::connected);
        try {
            var _ = reconfigure(from);
        } catch (IOException | RuntimeException e) {
            portals.close();
            loops.close();
            throw e;
        }
    }

    private static TransportProvider provider() {
        return ServiceLoader.load(TransportProvider.class, TransportProvider.class.getClassLoader())
                .stream()
                .map(ServiceLoader.Provider::get).filter(found -> found.scheme().equals("iscsi"))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalStateException("no TCP transport: lunar-tcp is missing"));
    }

    /** Returns a builder without portals and targets. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns the addresses where the server listens, with the real ports, in the order they were given. */
    public List<InetSocketAddress> portals() {
        return portals.all().stream().map(BoundPortal::local).toList();
    }

    /** Returns the names of the targets, in the order they were added. */
    public List<String> targetNames() {
        return List.copyOf(targets.keySet());
    }

    /** Returns the current spec of the target of a name. */
    public Optional<TargetSpec> spec(String targetName) {
        return Optional.ofNullable(target(targetName)).map(TargetNode::spec);
    }

    /**
     * Returns all targets and addresses, for name servers: SendTargets (RFC 7143 appendix C) without access checks.
     *
     * @param reached local address that stands for a portal on every address of the machine
     */
    public List<DiscoveredTarget> discoverable(InetSocketAddress reached) {
        return discovery.all(reached);
    }

    /** Registers a listener to run after each change of the targets, on the changing thread; it must not block. */
    public void onChange(Runnable listener) {
        listeners.add(listener);
    }

    /**
     * Adds a target, or changes the one of this name while it is in use. Unchanged parts of the spec go on undisturbed.
     * A change of LUNs is reported to initiators by a unit attention (REPORTED LUNS DATA HAS CHANGED); commands of a
     * unit that is taken away are aborted, and sessions of an initiator that may not use the target any more end.
     * Blocks while the saved state of new units is read.
     *
     * @return ends when the last command of each unit that was taken away has ended: then its device may be closed
     * @throws IOException when that state cannot be read; then nothing has changed
     * @throws IllegalArgumentException when the spec names a portal group that the server does not have
     */
    public CompletableFuture<Void> update(TargetSpec spec) throws IOException {
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
        synchronized (changing) {
            requireOpen();
            requireGroups(spec, portals.groups());
            TargetNode target = targets.get(spec.name());
            if (target != null) {
                done = target.update(spec);
            } else {
                var more = new LinkedHashMap<>(targets);
                more.put(spec.name(), newTarget(spec));
                targets = Collections.unmodifiableMap(more);
            }
        }
        listeners.forEach(Runnable::run);
        return done;
    }

    /**
     * Removes a target: its sessions end.
     *
     * @return ends when the last of their commands has ended: then its devices may be closed, if no other target has
     *         them
     * @throws IllegalArgumentException when there is none of this name
     */
    public CompletableFuture<Void> remove(String targetName) {
        CompletableFuture<Void> done;
        synchronized (changing) {
            requireOpen();
            TargetNode target = target(targetName);
            if (target == null) {
                throw new IllegalArgumentException("no target " + targetName);
            }
            var less = new LinkedHashMap<>(targets);
            less.remove(target.spec().name());
            targets = Collections.unmodifiableMap(less);
            done = target.remove();
        }
        listeners.forEach(Runnable::run);
        return done;
    }

    /**
     * Changes to the configuration of a builder, in one step: portals, targets, limits of sessions, offer, CHAP of
     * discovery and whether resets are announced. Its limits and loops are ignored. Unchanged parts go on undisturbed:
     * portals with the same address, targets of the same name (see {@link #update}), and all their sessions. The
     * connections of a portal that is removed, moved, or now in another group are asked to log out. Blocks while the
     * saved state of new units is read.
     *
     * @return ends when the last command of each unit that was taken away has ended: then its device may be closed
     * @throws IOException when a new portal cannot be listened on, or that state cannot be read; then nothing has
     *         changed
     * @throws IllegalArgumentException when a target names a portal group without portal; nothing has changed either
     */
    public CompletableFuture<Void> reconfigure(Builder wanted) throws IOException {
        CompletableFuture<Void> done;
        synchronized (changing) {
            requireOpen();
            wanted.requirePortals();
            for (TargetSpec spec : wanted.targets.values()) {
                requireGroups(spec, Portals.groups(wanted.portals));
            }
            Portals.Change to = portals.change(wanted.portals);
            TargetsChange made;
            try {
                made = TargetsChange.prepare(targets, wanted.targets.values(), this::newTarget);
            } catch (IOException | RuntimeException e) {
                to.cancel();
                throw e;
            }
            sessions.limit(wanted.sessionLimits);
            announcesResets = wanted.announcesResets;
            admissions = new Admissions(this, wanted.offer, wanted.discoveryChap);
            List<BoundPortal> without = to.begin();
            targets = made.after();
            done = made.make();
            to.finish();
            connections.stream().filter(connection -> without.contains(connection.portal()))
                    .forEach(connection -> connection.leavePortal(LEAVING_MS));
        }
        listeners.forEach(Runnable::run);
        return done;
    }

    private TargetNode newTarget(TargetSpec spec) throws IOException {
        return new TargetNode(spec, portals, units);
    }

    /**
     * Checks whether the size of devices has changed; reports it to initiators by a unit attention (CAPACITY DATA HAS
     * CHANGED). Cheap, but it queries the devices, so it may block.
     */
    public void checkCapacities() { units.refresh(); }

    private void requireOpen() {
        if (closed.get()) {
            throw new IllegalStateException("the server is closed");
        }
    }

    private static void requireGroups(TargetSpec spec, SortedSet<Integer> groups) {
        for (int group : spec.groups()) {
            if (!groups.contains(group)) {
                throw new IllegalArgumentException("target " + spec.name()
                        + " names portal group " + group + ", which has no portal");
            }
        }
    }

    /** Returns the number of normal sessions. */
    public int sessionCount() {
        return sessions.count();
    }

    /** Returns the number of open connections, in any phase. */
    public int connectionCount() {
        return connections.size();
    }

    /** Returns the bytes of memory lent to commands. */
    public long bufferBytesInUse() {
        return buffers.usedBytes();
    }

    /** Returns the bytes of memory of answers that peers have not taken. */
    public long answerBytesInUse() {
        return connections.stream().mapToLong(Connection::answerBytes).sum();
    }

    /**
     * Refuses logins (service unavailable), asks all initiators to log out (RFC 7143 section 11.9.1), and waits for
     * that at most this long; then closes the server as {@link #close} does.
     */
    public void shutDown(Duration grace) {
        closing = true;
        var ends = new ArrayList<CompletableFuture<Void>>();
        for (TargetNode target : targets.values()) {
            for (Session session : target.sessions()) {
                session.askForLogout(grace.toMillis());
                ends.add(session.ended());
            }
        }
        CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, grace.toMillis(), TimeUnit.MILLISECONDS).join();
        close();
    }

    /**
     * Changes the asymmetric access state of a portal group of a target (SPC-5 section 5.18): hosts with several paths
     * then switch to another one, or back.
     *
     * @throws IllegalArgumentException when there is no such target or group, or the state cannot be set
     */
    public void changeAccess(String targetName, int portalGroupTag, TargetPortGroups.State state) {
        TargetNode target = target(targetName);
        if (target == null) {
            throw new IllegalArgumentException("no target " + targetName);
        }
        target.device().changeAccess(portalGroupTag, state);
    }

    /**
     * Stops accepting connections, ends the existing ones, and returns when their commands have ended, or after a
     * bounded time. The devices stay open.
     */
    @Override
    public void close() {
        synchronized (changing) {
            closing = true;
            if (closed.getAndSet(true)) {
                return;
            }
        }
        portals.close();
        var ends = new ArrayList<CompletableFuture<Void>>();
        for (TargetNode target : targets.values()) {
            for (Session session : target.sessions()) {
                session.drop("the server is shutting down");
                ends.add(session.ended());
            }
        }
        CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, limits.answerTimeoutMs(), TimeUnit.MILLISECONDS).join();
        loops.close();
    }

    // --- for the connections ---

    private PduReceiver connected(BoundPortal portal, Transport transport) {
        var connection = new Connection(this, portal, transport);
        connections.add(connection);
        pending.add(connection).forEach(Connection::crowdOut);
        return connection;
    }

    /** Returns the connections of normal sessions. */
    LoggedInConnections loggedIn() {
        return loggedIn;
    }

    /** Moves a connection from the pending ones to those of normal sessions. */
    void loggedIn(Connection connection) {
        pending.remove(connection);
        loggedIn.add(connection);
    }

    void disconnected(Connection connection) {
        connections.remove(connection);
        loggedIn.remove(connection);
        pending.remove(connection);
    }

    ServerLimits limits() { return limits; }

    WarningLimiter warnings() { return warnings; }

    boolean announcesResets() { return announcesResets; }

    Buffers buffers() { return buffers; }

    Sessions sessions() { return sessions; }

    /** Returns the target of a name, or null. */
    @Nullable
    TargetNode target(String name) { return targets.get(InitiatorSpec.normal(name)); }

    Collection<TargetNode> targets() { return targets.values(); }

    List<BoundPortal> boundPortals() { return portals.all(); }

    /** Returns the number of logical units in use. */
    int unitCount() { return units.count(); }

    Discovery discovery() { return discovery; }

    /** Whether it refuses logins, as it is closing. */
    boolean isClosing() { return closing; }

    /**
     * Ends a session that has neither connections nor tasks, or that never began. It is over when its copies in the
     * background are too, and until then no new session replaces it.
     */
    void ended(Session session) { var _ = session.loseNexus().thenRun(() -> over(session)); }

    private void over(Session session) {
        if (session.ended().isDone()) {
            return;
        }
        TargetNode target = session.target();
        if (target != null) {
            sessions.remove(session, target);
        }
        sessions.releaseTsih(session.login().tsih());
        session.ended().complete(null);
    }

    TargetLogin newLogin(BoundPortal portal, Consumer<LoginPolicy.Applicant> applied) {
        LoginPolicy policy = applicant -> {
            applied.accept(applicant);
            return admissions.admit(applicant, portal);
        };
        return new TargetLogin(policy, this::randomBytes, LoginLimits.DEFAULT);
    }

    private byte[] randomBytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Configures a server, then starts it. Not thread-safe. */
    public static final class Builder {
        private final List<PortalSpec> portals = new ArrayList<>();
        private final Map<String, TargetSpec> targets = new LinkedHashMap<>();
        private ServerLimits limits = ServerLimits.DEFAULT;
        private SessionLimits sessionLimits = SessionLimits.DEFAULT;
        private Offer offer = DEFAULT_OFFER;
        private Optional<ChapPolicy> discoveryChap = Optional.empty();
        private boolean announcesResets = true;
        private int loopCount = DEFAULT_LOOPS;

        private Builder() {}

        /** Listens on an address; port 0 picks a free one. */
        public Builder portal(InetSocketAddress address) {
            return portal(PortalSpec.of(address));
        }

        /** Listens on a portal of a group. */
        public Builder portal(PortalSpec portal) {
            portals.add(portal);
            return this;
        }

        /** Listens on a host name or address, and a port. */
        public Builder portal(String host, int port) throws IOException {
            return portal(new InetSocketAddress(InetAddress.getByName(host), port));
        }

        /** Serves a target. */
        public Builder target(TargetSpec spec) {
            if (targets.put(spec.name(), spec) != null) {
                throw new IllegalArgumentException("target " + spec.name() + " is given twice");
            }
            return this;
        }

        /** Sets the limits of the server. */
        public Builder limits(ServerLimits bounds) {
            limits = bounds;
            return this;
        }

        /** Sets the limits of sessions. */
        public Builder sessionLimits(SessionLimits most) {
            sessionLimits = most;
            return this;
        }

        /** Sets the values that the server wants and accepts in login negotiation. */
        public Builder offer(Offer wanted) {
            offer = wanted;
            return this;
        }

        /** Demands CHAP in discovery sessions too; otherwise any initiator may ask for the names of the targets. */
        public Builder discoveryChap(ChapPolicy policy) {
            discoveryChap = Optional.of(policy);
            return this;
        }

        /**
         * Sets whether each unit answers the first command of a new session with a unit attention: POWER ON OCCURRED to
         * an initiator port that it has not seen since the server started, else I_T NEXUS LOSS OCCURRED. Without it
         * even an initiator that cannot handle one, such as jSCSI, can read the capacity.
         */
        public Builder announceResets(boolean value) {
            announcesResets = value;
            return this;
        }

        /**
         * Sets the number of threads that serve connections, by default {@link #DEFAULT_LOOPS}. Connections are
         * assigned to them in turn, so as many threads as connections give each connection a thread of its own.
         */
        public Builder loops(int count) {
            loopCount = count;
            return this;
        }

        /**
         * Starts the server.
         *
         * @throws IOException when a portal cannot be listened on, or the saved state of a unit cannot be read
         * @throws IllegalArgumentException when a target names a portal group that has no portal
         */
        public TargetServer start() throws IOException {
            requirePortals();
            return new TargetServer(this);
        }

        private void requirePortals() {
            if (portals.isEmpty()) {
                throw new IllegalStateException("a server needs a portal");
            }
        }
    }
}
