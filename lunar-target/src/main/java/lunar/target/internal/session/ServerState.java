package lunar.target.internal.session;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import lunar.iscsi.framing.DirectMemory;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.LoginLimits;
import lunar.iscsi.login.LoginPolicy;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.login.Offer;
import lunar.iscsi.login.TargetLogin;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.iscsi.text.SendTargets;
import lunar.iscsi.text.SessionEnd;
import lunar.scsi.target.Buffers;
import lunar.target.InitiatorSpec;
import lunar.target.ServerLimits;
import lunar.target.SessionLimits;
import lunar.target.internal.task.RetransmissionMemory;
import org.jspecify.annotations.Nullable;

/**
 * State shared by the logins, connections and sessions of a server: its targets and portals, limits, memory, and the
 * registries of connections and sessions. Thread-safe; targets and portals are changed by one thread at a time.
 */
public final class ServerState implements SessionServer {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    /**
     * Divisor of the JVM's direct memory for the part that commands may use; transports and devices need memory too.
     */
    private static final int PART_OF_DIRECT = 2;

    /** Divisor of the JVM's direct memory for the part that may be unfreed buffers of commands. */
    private static final int UNFREED_PART = 8;

    private final ServerLimits limits;
    private final Buffers buffers;
    private final RetransmissionMemory retransmission;
    private final ConnectionRegistry connections;
    private final Drains drains = new Drains();
    private final Sessions sessions;
    private final Portals portals;
    private final Discovery discovery = new Discovery(this);
    private final WarningLimiter warnings = new WarningLimiter(System::nanoTime,
            line -> LOG.log(System.Logger.Level.WARNING, "{0}", line));
    private final SecureRandom random = new SecureRandom();
    private volatile boolean announcesResets;
    private volatile boolean closing;
    private volatile Admissions admissions;

    /** Targets by name; replaced as a whole. */
    private volatile Map<String, TargetNode> targets = Map.of();

    /** @param discoveryChap CHAP of discovery sessions; empty for no authentication */
    public ServerState(ServerLimits limits, SessionLimits sessionLimits,
            Transports transports, Offer offer, Optional<ChapPolicy> discoveryChap) {
        this.limits = limits;
        long directBytes = DirectMemory.limitBytes();
        long poolBytes = Math.min(limits.maxBufferBytes(), directBytes / PART_OF_DIRECT);
        retransmission = RetransmissionMemory.of(poolBytes);
        buffers = new Buffers(limits.maxTransferBytes(), poolBytes,
                directBytes / UNFREED_PART,
                memory -> transports.register(memory)::close);
        connections = new ConnectionRegistry(limits);
        sessions = new Sessions(sessionLimits, connections.loggedIn(), drains);
        admissions = new Admissions(this, offer, discoveryChap);
        portals = new Portals(transports, this::connected);
    }

    private PduReceiver connected(BoundPortal portal, Transport transport) {
        Connection connection = LoginPhase.accept(this, portal, transport);
        connections.add(connection);
        return connection;
    }

    @Override
    public ServerLimits limits() { return limits; }

    @Override
    public Buffers buffers() { return buffers; }

    @Override
    public RetransmissionMemory retransmission() { return retransmission; }

    public ConnectionRegistry connections() { return connections; }

    public Sessions sessions() { return sessions; }

    public Drains drains() { return drains; }

    public Portals portals() { return portals; }

    public Discovery discovery() { return discovery; }

    @Override
    public WarningLimiter warnings() { return warnings; }

    /** Returns the target of a name, or null. */
    @Nullable
    public TargetNode target(String name) { return targets.get(InitiatorSpec.normal(name)); }

    /** Returns the targets by name, in the order they were added. */
    public Map<String, TargetNode> targetsByName() {
        return targets;
    }

    public Collection<TargetNode> targets() { return targets.values(); }

    /** Replaces all targets; the map must not change any longer. */
    public void targets(Map<String, TargetNode> all) {
        targets = all;
        drains.retain(all.keySet());
    }

    @Override
    public boolean announcesResets() { return announcesResets; }

    /** Sets whether units announce resets to sessions that begin from now on. */
    public void announceResets(boolean value) {
        announcesResets = value;
    }

    /** Replaces the limits of sessions and the rules for logins that begin from now on. */
    public void admit(SessionLimits most, Offer offer, Optional<ChapPolicy> discoveryChap) {
        sessions.limit(most);
        admissions = new Admissions(this, offer, discoveryChap);
    }

    /** Whether the server is closing and rejects logins. */
    boolean isClosing() { return closing; }

    /** Refuses all logins from now on. */
    public void beginClosing() { closing = true; }

    @Override
    public int maxTime2WaitSeconds() { return sessions.limits().maxTime2WaitSeconds(); }

    @Override
    public List<DiscoveredTarget> discover(SendTargets question, LoginResult login,
            BoundPortal asked, InetSocketAddress reached) {
        return discovery.answer(question, login, asked, reached);
    }

    @Override
    public SessionEnd.Server ends(Session asking) { return sessions.ends(asking); }

    @Override
    public void ended(Session session) { var _ = session.loseNexus().thenRun(() -> over(session)); }

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

    /** Creates the login protocol for a connection of a portal. */
    public TargetLogin newLogin(BoundPortal portal, Transport transport,
            Consumer<LoginPolicy.Applicant> applied) {
        LoginPolicy policy = applicant -> {
            applied.accept(applicant);
            return admissions.admit(applicant, portal, transport);
        };
        return new TargetLogin(policy, this::randomBytes, LoginLimits.DEFAULT);
    }

    private byte[] randomBytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
