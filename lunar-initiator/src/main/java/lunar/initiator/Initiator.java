package lunar.initiator;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import lunar.initiator.internal.session.Connection;
import lunar.initiator.internal.session.LoginPhase;
import lunar.initiator.internal.session.SessionEngine;
import lunar.iscsi.LoginException;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.InitiatorLogin;
import lunar.iscsi.login.Offer;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.session.CommandNumbering;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.iscsi.text.TargetAddress;
import org.jspecify.annotations.Nullable;

/**
 * An iSCSI initiator: discovers targets and logs in to them. It owns the event loops of its sessions; closing it closes
 * them all. May be used by any thread.
 *
 * <p>{@link Timeouts} limit each login and discovery. An interrupt ends them, too: they abandon the connection and
 * throw an {@link IOException}, and the thread remains interrupted. The resolution of a host's name is not limited.
 */
public final class Initiator implements AutoCloseable {
    private static final int MAX_REDIRECTIONS = 4;
    private static final int ISID_QUALIFIERS = 1 << 16;
    private static final int ISID_NUMBERS = 1 << 24;
    private static final int FIRST_CMD_SN = 1;

    private final InitiatorOptions options;
    private final SecureRandom random = new SecureRandom();
    private final int isidNumber = random.nextInt(ISID_NUMBERS);
    /** No two sessions have one ISID: the second login would take the place of the first (RFC 7143 section 6.3.5). */
    private final AtomicInteger isidQualifier = new AtomicInteger(random.nextInt(ISID_QUALIFIERS));
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();

    private final Transports transports;
    private volatile boolean closed;

    private Initiator(InitiatorOptions options) {
        this.options = options;
        transports = new Transports("lunar-initiator", options.loops());
    }

    /**
     * Creates an initiator with one event loop.
     *
     * @throws IllegalArgumentException if the name is no iSCSI name
     */
    public static Initiator create(String name) { return create(InitiatorOptions.of(name)); }

    /** Creates an initiator. Its event loops start with the first session. */
    public static Initiator create(InitiatorOptions options) {
        return new Initiator(options);
    }

    /** Returns the initiator's iSCSI name. */
    public String name() { return options.name(); }

    /**
     * Logs in to the target of an {@link IscsiUri}. The LUN of the URI, if any, is ignored.
     *
     * @throws IllegalArgumentException if the URI is wrong, or has the name or RDMA device of another initiator; the
     *         message is one line for the user
     * @throws LoginException if the target rejects the login, or does not respond in time
     * @throws IOException if no connection can be established, or it is lost
     */
    public Session login(String uri) throws IOException {
        IscsiUri parsed = IscsiUri.parse(uri);
        if (parsed.initiatorName().isPresent() && !parsed.initiatorName().get().equals(name())) {
            throw new IllegalArgumentException("the URI specifies initiator "
                    + parsed.initiatorName().get() + ", but this one is " + name());
        }
        if (parsed.rdmaProvider().isPresent()
                && !parsed.rdmaProvider().equals(options.loops().device())) {
            throw new IllegalArgumentException("the URI specifies rdma-provider "
                    + parsed.rdmaProvider().get() + ", but this initiator was created with "
                    + options.loops().device().orElse("none"));
        }
        return login(parsed.sessionOptions());
    }

    /**
     * Logs in.
     *
     * @throws LoginException if the target rejects the login, or does not respond in time
     * @throws IOException if no connection can be established, or it is lost
     */
    public Session login(SessionOptions session) throws IOException {
        return login(session, normal(session, newIsid()), "login to " + session.targetName(),
                MAX_REDIRECTIONS);
    }

    /**
     * Logs in with a given ISID: an existing session with it is ended at the target, with its commands, before the
     * login completes (session reinstatement, RFC 7143 section 6.3.5).
     *
     * @throws LoginException if the target rejects the login, or does not respond in time
     * @throws IOException if no connection can be established, or it is lost
     */
    public Session login(SessionOptions session, Isid isid) throws IOException {
        return login(session, normal(session, isid).withAllStages(),
                "login to " + session.targetName(), MAX_REDIRECTIONS);
    }

    /**
     * Logs in with a given ISID at exactly the portal of the options. Does not follow redirections: they may lead to
     * another portal group, where the login would reinstate another session with this ISID.
     *
     * @throws LoginException if the target rejects or redirects the login, or does not respond in time
     * @throws IOException if no connection can be established, or it is lost
     */
    public Session loginHere(SessionOptions session, Isid isid) throws IOException {
        return login(session, normal(session, isid).withAllStages(),
                "login to " + session.targetName(), 0);
    }

    private InitiatorLogin.Settings normal(SessionOptions session, Isid isid) {
        int connections = Math.max(session.connections(), session.offer().maxConnections());
        return InitiatorLogin.Settings.normal(name(), session.targetName(), isid,
                session.offer().withMaxConnections(connections));
    }

    /**
     * Discovers the targets of a portal.
     *
     * @param portal {@code host[:port]}, an IPv6 address in brackets
     * @throws LoginException if the target rejects the login, or does not respond in time
     * @throws IOException if no connection can be established, or it is lost
     */
    public List<DiscoveredTarget> discover(String portal) throws IOException {
        return discover(discovery(portal));
    }

    /** Discovers the targets of a portal that requires CHAP. */
    public List<DiscoveredTarget> discover(String portal, ChapCredentials own) throws IOException {
        return discover(discovery(portal).withChap(own));
    }

    /** Discovers the targets of a portal that requires CHAP, and must prove itself. */
    public List<DiscoveredTarget> discover(String portal, ChapCredentials own,
            ChapCredentials target) throws IOException {
        return discover(discovery(portal).withMutualChap(own, target));
    }

    /** Discovers targets with the portal, transport, secrets and timeouts of the given options. */
    public List<DiscoveredTarget> discover(SessionOptions at) throws IOException {
        var settings = InitiatorLogin.Settings.discovery(name(), newIsid(), Offer.DEFAULT);
        try (Session discovery = login(at.forDiscovery(), settings, "discovery",
                MAX_REDIRECTIONS)) {
            TargetAddress asked = discovery.portal();
            return discovery.sendTargets().stream()
                    .map(target -> target.addresses().isEmpty()
                            ? new DiscoveredTarget(target.name(), List.of(asked))
                            : target)
                    .toList();
        }
    }

    private static SessionOptions discovery(String portal) {
        TargetAddress address;
        try {
            address = TargetAddress.parse(portal);
        } catch (ProtocolException e) {
            throw new IllegalArgumentException(
                    "'" + portal + "' is not a portal; write host or host:port", e);
        }
        return SessionOptions.of(address.host(), address.port(), "").withQueueDepth(1);
    }

    /** Returns an ISID that no other session of this initiator has. */
    public Isid newIsid() {
        return Isid.random(isidNumber, isidQualifier.incrementAndGet() & (ISID_QUALIFIERS - 1));
    }

    private Session login(SessionOptions wanted, InitiatorLogin.Settings bare, String what,
            int redirections) throws IOException {
        InitiatorLogin.Settings settings = bare;
        if (options.alias().isPresent()) {
            settings = settings.withInitiatorAlias(options.alias().get());
        }
        SessionOptions session = wanted;
        for (int i = 0; i <= redirections; i++) {
            switch (lead(session, settings, what)) {
                case LoginPhase.LoggedIn<Session>(Session made) -> {
                    return register(made);
                }
                case LoginPhase.Moved<Session>(TargetAddress address) ->
                    session = session.withPortal(new TargetAddress(address.host(), address.port(),
                            OptionalInt.empty()));
            }
        }
        throw new LoginException(
                what + ": redirected more than " + redirections + " times", 1, 1);
    }

    private Session register(Session session) throws IOException {
        sessions.add(session);
        session.onEnd(() -> sessions.remove(session)); // not before: close() awaits the logout of each
        if (closed) {
            session.close();
            throw closedFailure();
        }
        session.addConnections();
        return session;
    }

    /** Logs in the first connection of a session. */
    private LoginPhase.Outcome<Session> lead(SessionOptions session,
            InitiatorLogin.Settings settings,
            String task) throws IOException {
        var numbering = new CommandNumbering(FIRST_CMD_SN);
        var numbers = new LoginPhase.Numbers() {
            @Override
            public int cmdSn() { return numbering.current(); }

            @Override
            public void update(int expCmdSn, int maxCmdSn) {
                boolean _ = numbering.update(expCmdSn, maxCmdSn);
            }
        };
        return attempt(session, session.portal(), settings, task, 0, null, numbers,
                (connection, result) -> new Session(connection, result, numbering, session,
                        options, join(session, settings)));
    }

    /** Returns what logs in further connections of a session, and replacements of lost ones. */
    private SessionEngine.Joiner join(SessionOptions options, InitiatorLogin.Settings settings) {
        return (session, cid, portal, expStatSn) -> {
            String task = "connection " + cid + " to " + options.targetName();
            if (session.loginResult().tsih() == 0) {
                throw new IOException(
                        task + ": the target has returned no TSIH, so no connection can join the session");
            }
            LoginPhase.Outcome<SessionEngine> outcome = attempt(options, portal,
                    settings.joining(session.loginResult(), cid), task, expStatSn,
                    session.loop(), session.numbers(), (connection, _) -> {
                        session.join(connection);
                        return session;
                    });
            if (outcome instanceof LoginPhase.Moved(TargetAddress address)) {
                throw new IOException(task + ": redirected to " + address);
            }
        };
    }

    private <S> LoginPhase.Outcome<S> attempt(SessionOptions session, TargetAddress at,
            InitiatorLogin.Settings bare, String task, int expStatSn,
            @Nullable EventLoop loop, LoginPhase.Numbers numbers, LoginPhase.SessionMaker<S> maker)
            throws IOException {
        String what = task + " at " + at;
        InitiatorLogin.Settings settings = session.chap().isPresent()
                ? session.chap().get().authenticate(bare)
                : bare;
        var phase = new CompletableFuture<LoginPhase<S>>();
        Function<Transport, PduReceiver> receiver = transport -> {
            var connection = new Connection(transport, settings.cid(), at, expStatSn);
            var login = new InitiatorLogin(
                    settings.withOffer(transport.offer(settings.offer())), this::unpredictable);
            var made = new LoginPhase<>(connection, login, session.queueDepth(), numbers, maker);
            connection.enter(made);
            phase.complete(made);
            return connection;
        };
        var portal = new InetSocketAddress(at.host(), at.port());
        if (portal.isUnresolved()) {
            throw new IOException(what + ": unknown host");
        }
        ChapOptions.requireLongSecrets(settings, portal.getAddress(), what);
        if (closed) {
            throw closedFailure();
        }
        Transport transport;
        try {
            if (session.scheme().equals(Transports.ISCSIS)
                    && session.tls().key().isPresent()) {
                PrivateFiles.require(session.tls().key().get());
            }
            transport = transports.loops(session.scheme()).connect(portal,
                    session.timeouts().connectMs(), session.tls(), receiver);
        } catch (IOException e) {
            throw new IOException(what + ": cannot connect: " + e.getMessage(), e);
        }
        LoginPhase<S> running = phase.join();
        // A session is confined to one event loop; nothing has been received yet, because the initiator sends first.
        transport.loop().execute(loop == null
                ? running::start
                : () -> transport.moveTo(loop, running::start));
        try {
            return LoginPhase.await(running.outcome(), session.timeouts().loginMs(), at, task);
        } catch (IOException e) {
            transport.abort();
            throw e;
        }
    }

    private byte[] unpredictable(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Logs out of every session, then ends the event loops; an interrupt ends the wait for both. Idempotent. */
    @Override
    public void close() {
        closed = true;
        sessions.forEach(Session::close);
        transports.close();
    }

    private static IOException closedFailure() {
        return new IOException("the initiator is closed");
    }
}
