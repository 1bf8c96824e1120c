package lunar.target;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import lunar.iscsi.ChapPolicy;
import lunar.iscsi.DiscoveredTarget;
import lunar.iscsi.LoginLimits;
import lunar.iscsi.LoginPolicy;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.Offer;
import lunar.iscsi.SendTargets;
import lunar.iscsi.SessionType;
import lunar.iscsi.TargetAddress;
import lunar.iscsi.TargetLogin;
import lunar.iscsi.TaskReporting;
import lunar.iscsi.spi.PduReceiver;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;
import lunar.scsi.TargetPortGroups;
import lunar.target.device.Buffers;
import lunar.target.device.CopyService;

/**
 * An iSCSI target server: portals, target nodes and their sessions. Started by {@link Builder#start}; runs until
 * {@link #close}. Thread-safe.
 */
public final class TargetServer implements AutoCloseable {
    /** Connections of a session, where the initiator wants several. */
    private static final int MAX_CONNECTIONS = 8;

    /** What a server wants and accepts, if nothing else is said. */
    public static final Offer DEFAULT_OFFER = Offer.DEFAULT.with(offer -> offer.taskReporting(
            List.of(TaskReporting.FAST_ABORT, TaskReporting.RESPONSE_FENCE, TaskReporting.RFC3720))
            .protocolLevel(FullFeature.RFC_7144).maxConnections(MAX_CONNECTIONS));

    private static final int PORTAL_GROUP_TAG = 1;

    /** Connections beyond the limit that are still told so in a Login Response. */
    private static final int REFUSED_POLITELY = 64;

    private final Map<String, TargetNode> targets = new LinkedHashMap<>();
    private final ServerLimits limits;
    private final Offer offer;
    private final Optional<ChapPolicy> discoveryChap;
    private final Buffers buffers;
    private final Sessions sessions = new Sessions();
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final SecureRandom random = new SecureRandom();
    private final TransportProvider.Loops loops;
    private final List<TransportProvider.Listener> listeners = new ArrayList<>();

    private TargetServer(Builder from) throws IOException {
        limits = from.limits;
        offer = from.offer;
        discoveryChap = from.discoveryChap;
        buffers = new Buffers(limits.maxTransferBytes(), limits.maxBufferBytes());
        var copies = new CopyService();
        for (TargetSpec spec : from.targets.values()) {
            targets.put(spec.name(), new TargetNode(spec, PORTAL_GROUP_TAG, limits, copies));
        }
        loops = provider().start("lunar-target", from.loopCount);
        try {
            for (InetSocketAddress portal : from.portals) {
                listeners.add(loops.listen(portal, this::connected));
            }
        } catch (IOException e) {
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

    /** A server without portals and targets yet. */
    public static Builder builder() {
        return new Builder();
    }

    /** Where the server listens, with the real ports, in the order they were given. */
    public List<InetSocketAddress> portals() {
        return listeners.stream().map(TransportProvider.Listener::local).toList();
    }

    /** Normal sessions logged in now. */
    public int sessionCount() { return sessions.count(); }

    /** Bytes of memory lent to commands now. */
    public long bufferBytesInUse() {
        return buffers.usedBytes();
    }

    /**
     * Takes no new connections and asks everybody to log out (RFC 7143 section 11.9.1), for so long at most; then
     * {@link #close}.
     */
    public void shutDown(Duration grace) {
        listeners.forEach(TransportProvider.Listener::close);
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
     * then choose another one, or come back.
     *
     * @throws IllegalArgumentException when there is no such target or group, or the state is none to be in
     */
    public void changeAccess(String targetName, int portalGroupTag, TargetPortGroups.State state) {
        TargetNode target = targets.get(targetName);
        if (target == null) {
            throw new IllegalArgumentException("no target " + targetName);
        }
        target.device().changeAccess(portalGroupTag, state);
    }

    /**
     * Takes no new connections, ends those there are, and returns when their commands have ended. The devices stay
     * open.
     */
    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        listeners.forEach(TransportProvider.Listener::close);
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

    private PduReceiver connected(Transport transport) {
        int others = connections.size();
        var connection = new Connection(this, transport, others >= limits.maxConnections());
        if (others >= limits.maxConnections() + REFUSED_POLITELY) {
            transport.close(); // a flood: no use in telling each of them
        } else {
            connections.add(connection);
        }
        return connection;
    }

    void disconnected(Connection connection) { connections.remove(connection); }

    ServerLimits limits() { return limits; }

    Buffers buffers() { return buffers; }

    Sessions sessions() { return sessions; }

    /** The target of that name, which {@link #newLogin}'s policy has admitted. */
    TargetNode target(String name) {
        TargetNode target = targets.get(name);
        if (target == null) {
            throw new IllegalStateException("no target " + name);
        }
        return target;
    }

    /** The last task of a session that has lost its connection has ended. */
    void ended(Session session) {
        TargetNode target = session.target();
        if (target != null) {
            sessions.remove(session, target);
        }
        session.ended().complete(null);
    }

    TargetLogin newLogin(Consumer<LoginPolicy.Applicant> applied) {
        LoginPolicy policy = applicant -> {
            applied.accept(applicant);
            return admit(applicant);
        };
        return new TargetLogin(policy, this::randomBytes, LoginLimits.DEFAULT);
    }

    private byte[] randomBytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    private LoginPolicy.Admission admit(LoginPolicy.Applicant applicant) {
        if (applicant.sessionType() == SessionType.DISCOVERY) {
            return new LoginPolicy.Admission.Accept(offer, discoveryChap, Optional.empty(),
                    PORTAL_GROUP_TAG,
                    sessions.newTsih(), Optional.empty());
        }
        String name = applicant.targetName().orElse("");
        TargetNode target = targets.get(name);
        if (target == null) {
            return new LoginPolicy.Admission.Refuse(LoginStatus.NOT_FOUND,
                    "no target " + printable(name));
        }
        if (applicant.tsih() != 0) {
            return join(applicant, target);
        }
        TargetSpec spec = target.spec();
        return new LoginPolicy.Admission.Accept(offer, spec.chap(),
                spec.alias().isEmpty() ? Optional.empty() : Optional.of(spec.alias()),
                PORTAL_GROUP_TAG,
                sessions.newTsih(), Optional.empty());
    }

    /** A connection of a session there is: one more, or in the place of one (RFC 7143 sections 6.3.1 and 6.3.4). */
    private LoginPolicy.Admission join(LoginPolicy.Applicant applicant, TargetNode target) {
        Session joined = sessions.find(applicant.tsih());
        if (joined == null || !target.equals(joined.target())
                || !joined.login().initiatorName().equals(applicant.initiatorName())
                || !joined.login().isid().equals(applicant.isid())) {
            return new LoginPolicy.Admission.Refuse(LoginStatus.SESSION_DOES_NOT_EXIST,
                    "no session with TSIH " + applicant.tsih());
        }
        Optional<LoginStatus> refusal = joined.refusal(applicant.cid());
        if (refusal.isPresent()) {
            return new LoginPolicy.Admission.Refuse(refusal.get(), "connection "
                    + applicant.cid() + " of the session with TSIH " + applicant.tsih());
        }
        return new LoginPolicy.Admission.Accept(offer, target.spec().chap(), Optional.empty(),
                PORTAL_GROUP_TAG, applicant.tsih(), Optional.of(joined.login().parameters()));
    }

    private static String printable(String name) { return name.replaceAll("[^\\x20-\\x7e]", "?"); }

    /** What SendTargets answers on this connection. */
    List<DiscoveredTarget> discovered(SendTargets asked, Session session, Transport transport) {
        InetSocketAddress here = transport.local();
        var address = new TargetAddress(here.getAddress().getHostAddress().replaceFirst("%.*", ""),
                here.getPort(),
                OptionalInt.of(PORTAL_GROUP_TAG));
        return switch (asked) {
            case SendTargets.All _ -> targets.keySet().stream()
                    .map(name -> new DiscoveredTarget(name, List.of(address))).toList();
            case SendTargets.Named(String name) -> targets.containsKey(name)
                    ? List.of(new DiscoveredTarget(name, List.of(address)))
                    : List.of();
            case SendTargets.Current _ -> session.login().targetName()
                    .map(name -> List.of(new DiscoveredTarget(name, List.of(address))))
                    .orElse(List.of());
        };
    }

    /** Says what a server consists of, then starts it. Not thread-safe. */
    public static final class Builder {
        private final List<InetSocketAddress> portals = new ArrayList<>();
        private final Map<String, TargetSpec> targets = new LinkedHashMap<>();
        private ServerLimits limits = ServerLimits.DEFAULT;
        private Offer offer = DEFAULT_OFFER;
        private Optional<ChapPolicy> discoveryChap = Optional.empty();
        private int loopCount = Math.max(1,
                Math.min(8, Runtime.getRuntime().availableProcessors()));

        private Builder() {}

        /** Listens on an address; port 0 picks a free one. */
        public Builder portal(InetSocketAddress address) {
            portals.add(address);
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

        /** Bounds of the server. */
        public Builder limits(ServerLimits bounds) {
            limits = bounds;
            return this;
        }

        /** What the server wants and accepts in login negotiation. */
        public Builder offer(Offer wanted) {
            offer = wanted;
            return this;
        }

        /** Asks for CHAP in discovery sessions too; without it everybody may ask for the names of the targets. */
        public Builder discoveryChap(ChapPolicy policy) {
            discoveryChap = Optional.of(policy);
            return this;
        }

        /** Threads that serve connections; by default one per processor, to 8. */
        public Builder loops(int count) {
            loopCount = count;
            return this;
        }

        /**
         * Starts the server.
         *
         * @throws IOException when a portal cannot be listened on, or the saved state of a unit cannot be read
         */
        public TargetServer start() throws IOException {
            if (portals.isEmpty() || targets.isEmpty()) {
                throw new IllegalStateException("a server needs a portal and a target");
            }
            return new TargetServer(this);
        }
    }
}
