package lunar.target;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import lunar.block.StorageException;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.Offer;
import lunar.iscsi.login.TaskReporting;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.Polling;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.scsi.primary.TargetPortGroups;
import lunar.target.internal.session.BoundPortal;
import lunar.target.internal.session.Portals;
import lunar.target.internal.session.ServerState;
import lunar.target.internal.session.Session;
import lunar.target.internal.session.TargetNode;
import lunar.target.internal.session.TargetsChange;
import lunar.target.internal.session.UnitRegistry;
import lunar.target.internal.task.TaskSession;
import lunar.target.status.CommandCounts;
import lunar.target.status.SessionStatus;

/**
 * An iSCSI target server: portals, target nodes and their sessions. Started by {@link Builder#start}; runs until
 * {@link #close}. Thread-safe.
 */
public final class TargetServer implements AutoCloseable {
    /** Maximum number of connections of a session. */
    private static final int MAX_CONNECTIONS = 8;

    /** Why a session is dropped that has not logged out in time. */
    private static final String LOGGED_OUT = "the operator has logged it out";

    /**
     * The default offer of a server. It accepts data in any order and offers Time2Wait 0: a login that replaces a lost
     * session is answered when the commands of that session have ended, so waiting before the login has no benefit.
     */
    public static final Offer DEFAULT_OFFER = Offer.DEFAULT.withTaskReporting(
            List.of(TaskReporting.FAST_ABORT, TaskReporting.RESPONSE_FENCE, TaskReporting.RFC3720))
            .withProtocolLevel(TaskSession.RFC_7144).withMaxConnections(MAX_CONNECTIONS)
            .withErrorRecoveryLevel(2).withDataPduInOrder(false).withDataSequenceInOrder(false);

    /** Default number of threads that serve connections: one per processor, at most 8. */
    public static final int DEFAULT_LOOPS = Math.clamp(Runtime.getRuntime().availableProcessors(),
            1, 8);

    private final ServerState shared;
    private final UnitRegistry units;
    private final Transports transports;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Listeners for changes of the targets. */
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    /** Lock for changes of the targets. */
    private final Object changing = new Object();

    private TargetServer(Builder from) throws IOException {
        transports = new Transports("lunar-target", from.loops);
        shared = new ServerState(from.limits, from.sessionLimits, transports, from.offer,
                from.discoveryChap);
        shared.announceResets(from.announcesResets);
        units = new UnitRegistry(from.limits);
        try {
            var _ = reconfigure(from);
        } catch (IOException | RuntimeException e) {
            shared.portals().close();
            transports.close();
            throw e;
        }
    }

    /** Returns a builder without portals and targets. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns the addresses where the server listens, with the actual ports, in configuration order. */
    public List<InetSocketAddress> portals() {
        return shared.portals().all().stream().map(BoundPortal::local).toList();
    }

    /** Returns the portals, each with the address where it listens. */
    public List<PortalSpec> listening() {
        return shared.portals().all().stream().map(BoundPortal::listening).toList();
    }

    /** Returns the names of the targets, in the order they were added. */
    public List<String> targetNames() {
        return List.copyOf(shared.targetsByName().keySet());
    }

    /** Returns the current spec of the target of a name. */
    public Optional<TargetSpec> spec(String targetName) {
        return Optional.ofNullable(shared.target(targetName)).map(TargetNode::spec);
    }

    /**
     * Returns all targets and addresses, for name servers: SendTargets (RFC 7143 appendix C) without access checks.
     *
     * @param reached local address to report for a portal that listens on the wildcard address
     */
    public List<DiscoveredTarget> discoverable(InetSocketAddress reached) {
        return shared.discovery().all(reached);
    }

    /** Registers a listener to run after each change of the targets, on the changing thread; it must not block. */
    public void onChange(Runnable listener) {
        listeners.add(listener);
    }

    /**
     * Adds a target, or changes the target of this name while it is in use. Unchanged parts of the spec are not
     * disturbed. A change of LUNs is reported to initiators by a unit attention (REPORTED LUNS DATA HAS CHANGED);
     * commands of a removed unit are aborted, and sessions of an initiator that has lost access to the target end.
     * Sessions in a portal group that the target has left are asked to log out. Blocks while the saved state of new
     * units is read.
     *
     * @return completes when the last command of each removed unit has ended; then its device may be closed
     * @throws IOException if that state cannot be read; then nothing has changed
     * @throws IllegalArgumentException if the spec names a portal group that the server does not have
     */
    public CompletableFuture<Void> update(TargetSpec spec) throws IOException {
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
        synchronized (changing) {
            requireOpen();
            requireGroups(spec, shared.portals().groups());
            TargetNode target = shared.targetsByName().get(spec.name());
            if (target != null) {
                done = target.update(spec);
            } else {
                var more = new LinkedHashMap<>(shared.targetsByName());
                TargetNode fresh = newTarget(spec);
                fresh.begin();
                more.put(spec.name(), fresh);
                shared.targets(Collections.unmodifiableMap(more));
            }
        }
        listeners.forEach(Runnable::run);
        return done;
    }

    /**
     * Removes a target: its sessions end.
     *
     * @return completes when the last of their commands has ended; then its devices may be closed, if no other target
     *        has them
     * @throws IllegalArgumentException if there is no target of this name
     */
    public CompletableFuture<Void> remove(String targetName) {
        CompletableFuture<Void> done;
        synchronized (changing) {
            requireOpen();
            TargetNode target = existing(targetName);
            var less = new LinkedHashMap<>(shared.targetsByName());
            less.remove(target.spec().name());
            shared.targets(Collections.unmodifiableMap(less));
            done = target.remove();
        }
        listeners.forEach(Runnable::run);
        return done;
    }

    /**
     * Applies the configuration of a builder in one step: portals, targets, session limits, offer, discovery CHAP and
     * whether resets are announced. Its limits and loops are ignored. Unchanged parts are not disturbed: portals with
     * the same address, targets of the same name (see {@link #update}), and all their sessions. The connections of a
     * portal that is removed, moved, or now in another group are asked to log out. Blocks while the saved state of new
     * units is read.
     *
     * @return completes when the last command of each removed unit has ended; then its device may be closed
     * @throws IOException if a new portal cannot be listened on, or that state cannot be read; then nothing has
     *         changed
     * @throws IllegalArgumentException if a target names a portal group without portal; nothing has changed either
     */
    public CompletableFuture<Void> reconfigure(Builder wanted) throws IOException {
        CompletableFuture<Void> done;
        synchronized (changing) {
            requireOpen();
            wanted.requirePortals();
            for (TargetSpec spec : wanted.targets.values()) {
                requireGroups(spec, Portals.groups(wanted.portals));
            }
            Portals.Change to = shared.portals().change(wanted.portals,
                    wanted.renewsCertificates);
            TargetsChange made;
            try {
                made = TargetsChange.prepare(shared.targetsByName(), wanted.targets.values(),
                        this::newTarget);
            } catch (IOException | RuntimeException e) {
                to.cancel();
                throw e;
            }
            shared.announceResets(wanted.announcesResets);
            shared.admit(wanted.sessionLimits, wanted.offer, wanted.discoveryChap);
            List<BoundPortal> without = to.begin();
            shared.targets(made.after());
            done = made.make();
            to.finish();
            shared.connections().leavePortals(without, TargetNode.LEAVING_MS);
        }
        listeners.forEach(Runnable::run);
        return done;
    }

    private TargetNode newTarget(TargetSpec spec) throws IOException {
        return new TargetNode(spec, shared.portals(), units);
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
                        + " is in portal group " + group
                        + ", but the server has no portal in this group");
            }
        }
    }

    /** Returns the number of normal sessions. */
    public int sessionCount() {
        return shared.sessions().count();
    }

    /** Returns the normal sessions, by TSIH. */
    public List<SessionStatus> sessions() {
        return shared.targets().stream().flatMap(target -> target.sessions().stream())
                .flatMap(session -> session.status().stream())
                .sorted(Comparator.comparingInt(SessionStatus::tsih)).toList();
    }

    /**
     * Returns the counts of the commands to a LUN of a target, as the target numbers it, since it is served; none for a
     * LUN that does not exist. A unit at several LUNs of the target has the same counts at each.
     */
    public CommandCounts commands(String targetName, int lun) {
        TargetNode target = shared.target(targetName);
        return target == null ? CommandCounts.NONE : target.counts(lun);
    }

    /**
     * Asks the initiator of a session to log out (RFC 7143 section 11.9.1), and ends the session if it has not done so
     * in time. The initiator may log in again.
     *
     * @param tsih TSIH of the session
     * @return completes when the session has ended; empty if there is no such session
     */
    public Optional<CompletableFuture<Void>> logOut(int tsih, Duration within) {
        return Optional.ofNullable(shared.sessions().find(tsih))
                .map(session -> session.logOut(within.toMillis(), LOGGED_OUT));
    }

    /**
     * Begins to drain all targets, also those that are added later: refuses logins of normal sessions (service
     * unavailable, RFC 7143 section 11.13.5), also those that continue a session, and logs all sessions out as
     * {@link #logOut} does. Hosts with multipath change to their other paths. Discovery sessions are not concerned.
     * Changes of the targets do not end the drain.
     *
     * @param within time that initiators have to log out
     * @return each completes when one of these sessions has ended
     */
    public List<CompletableFuture<Void>> drain(Duration within) {
        shared.drains().addAll();
        return logOut(shared.sessions().drained(), within);
    }

    /**
     * Drains a target alone, until it is removed; otherwise like {@link #drain(Duration)}.
     *
     * @throws IllegalArgumentException if there is no target of this name
     */
    public List<CompletableFuture<Void>> drain(String targetName, Duration within) {
        TargetNode target;
        synchronized (changing) { // or the drain of a target that is just removed would be that of a later one
            target = existing(targetName);
            shared.drains().add(target.spec().name());
        }
        return logOut(shared.sessions().of(target), within);
    }

    private static List<CompletableFuture<Void>> logOut(List<Session> sessions, Duration within) {
        return sessions.stream().map(session -> session.logOut(within.toMillis(), LOGGED_OUT))
                .toList();
    }

    /** Accepts logins again, to all targets. Sessions that were asked to log out still end. */
    public void endDrain() {
        shared.drains().clear();
    }

    /**
     * Accepts logins to a target again, unless all targets are drained.
     *
     * @throws IllegalArgumentException if there is no target of this name
     */
    public void endDrain(String targetName) {
        shared.drains().remove(existing(targetName).spec().name());
    }

    /** Whether all targets are drained. */
    public boolean isDraining() {
        return shared.drains().isAll();
    }

    /** Returns the names of the targets that are drained on their own, in lower case. */
    public Set<String> drainedTargets() {
        return shared.drains().names();
    }

    private TargetNode existing(String targetName) {
        TargetNode target = shared.target(targetName);
        if (target == null) {
            throw new IllegalArgumentException("no target " + targetName);
        }
        return target;
    }

    /** Returns the number of open connections, in any phase. */
    public int connectionCount() {
        return shared.connections().count();
    }

    /** Returns the number of bytes of memory used by commands. */
    public long bufferBytesInUse() {
        return shared.buffers().usedBytes();
    }

    /** Returns the bytes of memory of answers that peers have not taken. */
    public long answerBytesInUse() {
        return shared.connections().answerBytes();
    }

    /**
     * Refuses logins (service unavailable), asks all initiators to log out (RFC 7143 section 11.9.1), and waits for
     * that up to the grace period; then closes the server like {@link #close}.
     */
    public void shutDown(Duration grace) {
        shared.beginClosing();
        var ends = new ArrayList<CompletableFuture<Void>>();
        for (TargetNode target : shared.targets()) {
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
     * then switch to another one, or back. The group may be one of another server of the same units. Blocks while
     * servers that share a unit are told.
     *
     * @throws IllegalArgumentException when there is no such target or group, or the state cannot be set
     * @throws StorageException when the state could not be set for a unit that servers share
     */
    public void changeAccess(String targetName, int portalGroupTag, TargetPortGroups.State state)
            throws StorageException {
        existing(targetName).device().changeAccess(portalGroupTag, state);
    }

    /**
     * Stops accepting connections, ends the existing ones, and returns when their commands have ended, or after a
     * bounded time. The devices stay open.
     */
    @Override
    public void close() {
        synchronized (changing) {
            shared.beginClosing();
            if (closed.getAndSet(true)) {
                return;
            }
        }
        shared.portals().close();
        var ends = new ArrayList<CompletableFuture<Void>>();
        for (TargetNode target : shared.targets()) {
            for (Session session : target.sessions()) {
                session.drop("the server is shutting down");
                ends.add(session.ended());
            }
        }
        CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, shared.limits().answerTimeoutMs(), TimeUnit.MILLISECONDS)
                .join();
        units.end().join();
        transports.close();
    }

    /** Returns the shared state of connections; for tests. */
    ServerState shared() {
        return shared;
    }

    /** Returns the number of logical units in use; for tests. */
    int unitCount() {
        return units.count();
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
        private LoopOptions loops = LoopOptions.of(DEFAULT_LOOPS);
        private boolean renewsCertificates = true;

        private Builder() {}

        /** Listens on an address; port 0 picks a free one. */
        public Builder portal(InetSocketAddress address) {
            return portal(PortalSpec.of(address));
        }

        /** Adds a portal to listen on, or a portal of another server to report to initiators. */
        public Builder portal(PortalSpec portal) {
            portals.add(portal);
            return this;
        }

        /** Listens on a host name or address, and a port. */
        public Builder portal(String host, int port) throws IOException {
            return portal(new InetSocketAddress(InetAddress.getByName(host), port));
        }

        /**
         * Sets whether {@link TargetServer#reconfigure} reads the TLS files of portals again if the portal already uses
         * files of these names. Default: true.
         */
        public Builder renewCertificates(boolean value) {
            renewsCertificates = value;
            return this;
        }

        /** Serves a target. */
        public Builder target(TargetSpec spec) {
            if (targets.put(spec.name(), spec) != null) {
                throw new IllegalArgumentException(
                        "target " + spec.name() + " is configured twice");
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

        /** Requires CHAP in discovery sessions too; otherwise any initiator may list the targets. */
        public Builder discoveryChap(ChapPolicy policy) {
            discoveryChap = Optional.of(policy);
            return this;
        }

        /**
         * Sets whether each unit reports a unit attention to the first command of a new session: POWER ON OCCURRED for
         * the first session of an initiator port since the server started, otherwise I_T NEXUS LOSS OCCURRED. Disable
         * for initiators that cannot handle unit attentions, such as jSCSI.
         */
        public Builder announceResets(boolean value) {
            announcesResets = value;
            return this;
        }

        /**
         * Sets the number of threads that serve connections, by default {@link #DEFAULT_LOOPS}. Connections are
         * assigned to them round-robin.
         */
        public Builder loops(int count) {
            loops = loops.withCount(count);
            return this;
        }

        /** Sets number and behaviour of the threads that serve connections. */
        public Builder loops(LoopOptions options) {
            loops = options;
            return this;
        }

        /** Sets how long these threads poll for events before they sleep; by default they sleep at once. */
        public Builder polling(Polling polling) {
            loops = loops.withPolling(polling);
            return this;
        }

        /**
         * Starts the server.
         *
         * @throws IOException if a portal cannot be listened on, or the saved state of a unit cannot be read
         * @throws IllegalArgumentException if a target names a portal group that has no portal, or a group has
         *         portals of several servers
         */
        public TargetServer start() throws IOException {
            requirePortals();
            return new TargetServer(this);
        }

        private void requirePortals() {
            Set<Integer> here = portals.stream().filter(portal -> !portal.elsewhere())
                    .map(PortalSpec::group).collect(Collectors.toSet());
            if (here.isEmpty()) {
                throw new IllegalStateException("a server needs at least one portal");
            }
            for (PortalSpec portal : portals) {
                if (portal.elsewhere() && here.contains(portal.group())) {
                    throw new IllegalArgumentException("portal group " + portal.group()
                            + " has portals of this server and of another one");
                }
            }
        }
    }
}
