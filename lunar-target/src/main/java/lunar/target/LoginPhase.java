package lunar.target;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import lunar.iscsi.Bhs;
import lunar.iscsi.ConnectionEvent;
import lunar.iscsi.ConnectionState;
import lunar.iscsi.LoginAnswer;
import lunar.iscsi.LoginAsk;
import lunar.iscsi.LoginRequest;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginResult;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.SessionType;
import lunar.iscsi.TargetLogin;
import lunar.iscsi.spi.PduReceiver;
import lunar.iscsi.spi.Transport;
import org.jspecify.annotations.Nullable;

/** The login phase of one connection (RFC 7143 chapter 6): moves PDUs between transport and {@link TargetLogin}. */
final class LoginPhase implements PduReceiver {
    private final Connection connection;
    private final TargetServer server;
    private final Transport transport;
    private final TargetLogin login;
    private final boolean refused;
    private final Bhs out = new Bhs();
    private final MemorySegment header = MemorySegment.ofArray(new byte[Bhs.LENGTH]);
    private int statSn;
    private int expStatSn;
    private boolean begun;
    private boolean over;
    private String who = "login";

    LoginPhase(Connection connection, TargetServer server, Transport transport, boolean refused) {
        this.connection = connection;
        this.server = server;
        this.transport = transport;
        this.refused = refused;
        login = server.newLogin(connection.portal(),
                applicant -> who = "login of " + applicant.initiatorName());
        out.wrap(header);
    }

    @Override
    public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length) {
        return MemorySegment.NULL;
    }

    @Override
    public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) throws ProtocolException {
        if (over) {
            throw new ProtocolException(
                    "a PDU before the final Login Response (RFC 7143 section 6.3)");
        }
        if (bhs.opcode() != LoginRequest.OPCODE) {
            // Before the leading login nobody is told anything (section 6.3); the connection just ends.
            throw new ProtocolException(String.format(
                    "opcode %02Xh where only a Login Request may come (RFC 7143 section 6.3)",
                    bhs.opcode()));
        }
        LoginRequest request = LoginRequest.decode(bhs);
        int cmdSn = request.cmdSn();
        if (!begun) {
            begun = true;
            expStatSn = request.expStatSn();
        }
        if (connection.state() == ConnectionState.XPT_UP) {
            connection.happened(new ConnectionEvent.LoginBegun());
        }
        TargetLogin.Step step = refused
                ? login.fail(LoginStatus.OUT_OF_RESOURCES, "too many connections")
                : login.receive(LoginAsk.of(request, data));
        switch (step) {
            case TargetLogin.Respond(LoginAnswer answer) ->
                send(answer, request.itt(), cmdSn, cmdSn);
            case TargetLogin.Fail fail -> failed(fail, request.itt(), cmdSn);
            case TargetLogin.Complete(LoginAnswer answer, LoginResult result) ->
                complete(answer, result, request.itt(), cmdSn);
        }
    }

    private void failed(TargetLogin.Fail fail, int itt, int cmdSn) {
        over = true;
        send(fail.answer(), itt, cmdSn, cmdSn);
        connection.end(fail.status().statusClass() == 1
                ? fail.reason()
                : "login refused, " + fail.status().text() + ": " + fail.reason(),
                new ConnectionEvent.LoginFailed());
    }

    private void complete(LoginAnswer answer, LoginResult result, int itt, int cmdSn) {
        over = true;
        // The text of the answer is valid during this call only, and others may have to end first.
        var kept = new LoginAnswer(answer.transit(), answer.more(), answer.stage(),
                answer.nextStage(), answer.versionMax(), answer.versionActive(), answer.isid(),
                answer.tsih(), answer.statusClass(), answer.statusDetail(),
                MemorySegment.ofArray(answer.text().toArray(ValueLayout.JAVA_BYTE)));
        TargetNode target = result.sessionType() == SessionType.NORMAL
                ? server.target(result.targetName().orElseThrow())
                : null;
        if (target == null && result.sessionType() == SessionType.NORMAL) {
            failed(login.fail(LoginStatus.NOT_FOUND, "the target has just been removed"), itt,
                    cmdSn);
            return;
        }
        Session known = target == null ? null : server.sessions().find(result.tsih());
        if (known != null) {
            transport.moveTo(known.loop(), () -> join(known, result, kept, itt));
            return;
        }
        var session = new Session(result, target, transport.loop(), cmdSn, server);
        if (target == null) {
            enter(session, result, answer, itt);
            return;
        }
        try {
            var _ = server.sessions()
                    .establish(session, target, server.limits().answerTimeoutMs())
                    .thenRun(() -> inLoop(() -> lead(session, result, kept, itt)));
        } catch (LoginException e) {
            failed(login.fail(LoginStatus.of(e.statusClass(), e.statusDetail()).orElseThrow(),
                    String.valueOf(e.getMessage())), itt, cmdSn);
        }
    }

    private void inLoop(Runnable task) {
        if (transport.loop().inLoop()) {
            task.run();
        } else {
            transport.loop().execute(task);
        }
    }

    /** The connection is the first of its session. */
    private void lead(Session session, LoginResult result, LoginAnswer answer, int itt) {
        if (connection.state() != ConnectionState.IN_LOGIN) { // the peer has left
            server.ended(session);
            return;
        }
        if (session.replaced()) { // yet another login took the place
            server.ended(session);
            connection.end("replaced by a newer login of the same initiator port",
                    new ConnectionEvent.LoginFailed());
            return;
        }
        enter(session, result, answer, itt);
    }

    /** The connection is one more of a session, on whose loop this runs (RFC 7143 section 6.3.4). */
    private void join(Session session, LoginResult result, LoginAnswer answer, int itt) {
        if (connection.state() != ConnectionState.IN_LOGIN) {
            return;
        }
        Optional<LoginStatus> refusal = session.refusal(result.cid());
        if (refusal.isPresent()) { // it was otherwise when the login began; too late to say it in a Login Response
            connection.end("login refused, " + refusal.get().text(),
                    new ConnectionEvent.LoginFailed());
            return;
        }
        enter(session, result, answer, itt);
    }

    private void enter(Session session, LoginResult result, LoginAnswer answer, int itt) {
        send(answer, itt, session.window().expCmdSn(), session.window().maxCmdSn());
        transport.framing(result.parameters().framing(FullFeature.MAX_AHS_BYTES));
        var fullFeature = new FullFeature(connection, server, transport, session, result, statSn);
        session.join(fullFeature, expStatSn);
        connection.enter(fullFeature);
        transport.flush();
    }

    private void send(LoginAnswer answer, int itt, int expCmdSn, int maxCmdSn) {
        answer.response(itt, statSn++, expCmdSn, maxCmdSn).encode(out);
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
    public String toString() { return who; }
}
