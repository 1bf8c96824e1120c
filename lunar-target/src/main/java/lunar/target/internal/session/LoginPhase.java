package lunar.target.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.LoginAnswer;
import lunar.iscsi.login.LoginAsk;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.login.SessionType;
import lunar.iscsi.login.TargetLogin;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.session.ConnectionEvent;
import lunar.iscsi.session.ConnectionState;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.text.PeerText;
import org.jspecify.annotations.Nullable;

/** The login phase of a connection (RFC 7143 chapter 6): moves PDUs between transport and {@link TargetLogin}. */
public final class LoginPhase implements ConnectionPhase {
    private final Connection connection;
    private final ServerState server;
    private final Transport transport;
    private final TargetLogin login;
    private final Bhs out = new Bhs();
    private final MemorySegment header = MemorySegment.ofArray(new byte[Bhs.LENGTH]);
    private int statSn;
    private int expStatSn;
    private boolean begun;
    private boolean over;
    /** Whether the last Login Response has been sent. */
    private boolean answered;
    private int itt;
    private int expCmdSn;
    private @Nullable String tolerated;
    private String label = "login";

    private LoginPhase(Connection connection, ServerState server, Transport transport) {
        this.connection = connection;
        this.server = server;
        this.transport = transport;
        login = server.newLogin(connection.portal(), transport,
                applicant -> label = "login of " + PeerText.printable(applicant.initiatorName()));
        out.wrap(header);
    }

    /** Starts the login of a connection that a portal has accepted. */
    public static Connection accept(ServerState server, BoundPortal portal, Transport transport) {
        return new Connection(portal, transport, server.connections(), server.warnings(),
                server.limits().loginTimeoutMs(),
                connection -> new LoginPhase(connection, server, transport));
    }

    @Override
    public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length) {
        return MemorySegment.NULL;
    }

    @Override
    public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) throws ProtocolException {
        if (over) {
            String what = "a PDU before the final Login Response (RFC 7143 section 6.3)";
            refuse(LoginStatus.INVALID_DURING_LOGIN, what);
            throw new ProtocolException(what);
        }
        if (bhs.opcode() != LoginRequest.OPCODE) {
            String what = String.format(
                    "opcode %02Xh where only a Login Request is allowed (RFC 7143 section 6.3)",
                    bhs.opcode());
            if (!begun) {
                // Nothing is answered before the first Login Request (section 6.3); end the connection.
                throw new ProtocolException(what);
            }
            failed(login.fail(LoginStatus.INVALID_DURING_LOGIN, what));
            return;
        }
        begin(bhs);
        LoginRequest request;
        try {
            request = LoginRequest.decode(bhs);
        } catch (ProtocolException e) {
            failed(login.fail(LoginStatus.INITIATOR_ERROR, String.valueOf(e.getMessage())));
            return;
        }
        switch (login.receive(LoginAsk.of(request, data))) {
            case TargetLogin.Respond(LoginAnswer answer) -> send(answer, expCmdSn, expCmdSn);
            case TargetLogin.Fail fail -> failed(fail);
            case TargetLogin.Complete(LoginAnswer answer, LoginResult result) ->
                complete(answer, result);
        }
    }

    /** Saves the fields of a Login Request, valid or not, that the response needs. */
    private void begin(Bhs bhs) {
        if (!begun) {
            begun = true;
            expStatSn = bhs.int32(InitiatorPdu.EXP_STAT_SN);
        }
        if (connection.state() == ConnectionState.XPT_UP) {
            connection.happened(new ConnectionEvent.LoginBegun());
        }
        itt = bhs.itt();
        expCmdSn = bhs.int32(InitiatorPdu.CMD_SN);
        if (!bhs.immediate()) { // then it consumes its CmdSN
            expCmdSn++;
            tolerated = "a Login Request without the I bit (RFC 7143 section 11.12)";
        }
    }

    @Override
    public void refuse(LoginStatus status, String why) {
        if (begun && !answered) {
            over = true;
            answered = true;
            send(login.fail(status, why).answer(), expCmdSn, expCmdSn);
            transport.flush();
        }
    }

    private void failed(TargetLogin.Fail fail) {
        over = true;
        answered = true;
        send(fail.answer(), expCmdSn, expCmdSn);
        transport.flush();
        connection.end(fail.status().statusClass() == 1
                ? fail.reason()
                : "login refused, " + why(fail.status().text(), fail.reason()),
                new ConnectionEvent.LoginFailed());
    }

    private static String why(String status, String reason) {
        return reason.startsWith(status) ? reason : status + ": " + reason;
    }

    private void complete(LoginAnswer answer, LoginResult result) {
        over = true;
        String let = login.tolerated().orElse(tolerated);
        if (let != null) {
            server.warnings().warn(connection.origin(),
                    label + ": accepted despite a protocol violation: " + let);
        }
        TargetNode target = result.sessionType() == SessionType.NORMAL
                ? server.target(result.targetName().orElseThrow())
                : null;
        if (target == null && result.sessionType() == SessionType.NORMAL) {
            reject(LoginStatus.NOT_FOUND, "the target was removed during the login");
            return;
        }
        // The text of the response is valid during this call only, but another session may have to end first.
        LoginAnswer kept = answer
                .withText(MemorySegment.ofArray(answer.text().toArray(ValueLayout.JAVA_BYTE)));
        if (result.tsih() != 0) { // only a login with a TSIH joins a session
            join(result, kept);
            return;
        }
        OptionalInt tsih = server.sessions().claimTsih();
        if (tsih.isEmpty()) {
            reject(LoginStatus.OUT_OF_RESOURCES, "every TSIH is taken");
            return;
        }
        LoginAnswer given = kept.withTsih(tsih.getAsInt());
        var session = new Session(result.withTsih(tsih.getAsInt()), target, transport.loop(),
                expCmdSn, connection.origin(), server);
        if (target == null) {
            enter(session, session.login(), given);
            return;
        }
        if (server.connections().loggedIn().isFull()
                && !server.sessions().replacesConnections(session, target)) {
            server.ended(session);
            reject(LoginStatus.OUT_OF_RESOURCES, "too many connections");
            return;
        }
        try {
            var _ = server.sessions()
                    .establish(session, target, server.limits().answerTimeoutMs(),
                            () -> server.ended(session))
                    .thenAccept(free -> inLoop(
                            () -> lead(session, free, session.login(), given)));
        } catch (LoginException e) {
            server.ended(session);
            reject(LoginStatus.of(e.statusClass(), e.statusDetail()).orElseThrow(),
                    String.valueOf(e.getMessage()));
        }
    }

    private void reject(LoginStatus status, String why) { failed(login.fail(status, why)); }

    private void inLoop(Runnable task) {
        if (transport.loop().inLoop()) {
            task.run();
        } else {
            transport.loop().execute(task);
        }
    }

    /** Rejects the login while commands of the replaced session or connection may still be executed. */
    private void notYet() {
        reject(LoginStatus.SERVICE_UNAVAILABLE, "commands of the old session have not ended yet");
    }

    /**
     * Enters full feature phase as the leading connection of a session.
     *
     * @param free whether the replaced session has ended
     */
    private void lead(Session session, boolean free, LoginResult result, LoginAnswer answer) {
        if (!free) { // the new session ends together with the old one; the next login waits for that
            if (connection.state() == ConnectionState.IN_LOGIN) {
                notYet();
            }
            return;
        }
        if (connection.state() != ConnectionState.IN_LOGIN) { // the peer has left
            server.ended(session);
            return;
        }
        if (session.replaced()) { // by yet another login
            server.ended(session);
            failed(login.fail(LoginStatus.SERVICE_UNAVAILABLE,
                    "replaced by a newer login of the same initiator port"));
            return;
        }
        if (server.drains().covers(Objects.requireNonNull(session.target()))) { // since it was established
            server.ended(session);
            reject(LoginStatus.SERVICE_UNAVAILABLE, Drains.REFUSAL);
            return;
        }
        enter(session, result, answer);
    }

    /** Joins the session that the request names (RFC 7143 section 6.3.4). */
    private void join(LoginResult result, LoginAnswer answer) {
        Session named = server.sessions().find(result.tsih());
        Optional<LoginStatus> refusal = refusal(named, result);
        if (named == null || refusal.isPresent()) { // since the login began
            reject(refusal.orElse(LoginStatus.SESSION_DOES_NOT_EXIST), notJoined(result));
            return;
        }
        transport.moveTo(named.loop(), () -> {
            if (mayJoin(named, result)) {
                vacate(named, result, answer);
            }
        });
    }

    /** Ends the connection that this one replaces, then joins. On the thread of the session's loop. */
    private void vacate(Session session, LoginResult result, LoginAnswer answer) {
        FullFeature old = session.connection(result.cid());
        var _ = session.vacate(result.cid()).thenApply(_ -> true)
                .completeOnTimeout(false, server.limits().answerTimeoutMs(),
                        TimeUnit.MILLISECONDS)
                .thenAccept(vacant -> inLoop(
                        () -> joinNow(session, old, vacant, result, answer)));
    }

    /** Whether the connection may still join; refuses the login otherwise. On the thread of the session's loop. */
    private boolean mayJoin(Session session, LoginResult result) {
        if (connection.state() != ConnectionState.IN_LOGIN) {
            return false;
        }
        Optional<LoginStatus> refusal = refusal(session, result);
        refusal.ifPresent(status -> reject(status, notJoined(result)));
        return refusal.isEmpty();
    }

    /** Joins after the replaced connection has ended, or has not in time. On the thread of the session's loop. */
    private void joinNow(Session session, @Nullable FullFeature old, boolean vacant,
            LoginResult result, LoginAnswer answer) {
        if (!mayJoin(session, result)) {
            return;
        }
        if (!vacant) {
            notYet();
            return;
        }
        FullFeature other = session.connection(result.cid());
        if (other != null && !other.equals(old)) { // another login of this CID was faster: this one replaces it
            vacate(session, result, answer);
            return;
        }
        if (old == null && server.connections().loggedIn().isFull()) {
            reject(LoginStatus.OUT_OF_RESOURCES, "too many connections");
            return;
        }
        if (old == null && !session.isKept()
                && server.sessions().isShareTaken(connection.origin())) {
            reject(LoginStatus.OUT_OF_RESOURCES,
                    "too many connections from " + connection.origin());
            return;
        }
        enter(session, result, answer);
    }

    /**
     * Returns why a login may not join a session; empty if it may. Session and access may have changed since it began.
     */
    private Optional<LoginStatus> refusal(@Nullable Session session, LoginResult result) {
        TargetNode target = server.target(result.targetName().orElseThrow());
        if (session == null || target == null || !target.equals(session.target())
                || target.spec().access(result.initiatorName()).isEmpty()) {
            return Optional.of(LoginStatus.SESSION_DOES_NOT_EXIST);
        }
        return server.drains().covers(target)
                ? Optional.of(LoginStatus.SERVICE_UNAVAILABLE)
                : session.refusal(result);
    }

    private static String notJoined(LoginResult result) {
        return "connection " + result.cid() + " cannot join the session with TSIH "
                + result.tsih();
    }

    private void enter(Session session, LoginResult result, LoginAnswer answer) {
        answered = true;
        // First, since it prepares for what the initiator sends as soon as it has the answer.
        transport.agreed(result.parameters(), server.limits().commandsPerSession()
                + server.limits().immediateCommandsPerSession());
        send(answer, session.window().expCmdSn(), session.window().maxCmdSn());
        transport.framing(result.parameters().framing(FullFeature.MAX_AHS_BYTES));
        var fullFeature = new FullFeature(connection, server, transport, session, result, statSn);
        connection.enter(fullFeature);
        session.join(fullFeature, expStatSn);
        transport.flush();
    }

    private void send(LoginAnswer answer, int firstCmdSn, int maxCmdSn) {
        answer.response(itt, statSn++, firstCmdSn, maxCmdSn).encode(out);
        out.lengths(0, (int) answer.text().byteSize());
        transport.send(header, answer.text(), Transport.Release.NOTHING);
    }

    @Override
    public void dataDigestError(Bhs bhs) {
        throw new IllegalStateException("no digests during login");
    }

    @Override
    public void batchEnd() { transport.flush(); }

    @Override
    public void closed(@Nullable IOException cause) {}

    @Override
    public String toString() { return label; }
}
