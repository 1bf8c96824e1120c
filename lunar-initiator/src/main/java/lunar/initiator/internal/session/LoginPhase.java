package lunar.initiator.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lunar.iscsi.LoginException;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.InitiatorLogin;
import lunar.iscsi.login.LoginAnswer;
import lunar.iscsi.login.LoginAsk;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.LoginResponse;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.RejectReason;
import lunar.iscsi.session.StatusReceiver;
import lunar.iscsi.text.TargetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Login phase of a connection, on the event loop's thread. Manages sequence numbers and tags; {@code InitiatorLogin}
 * does the negotiation.
 *
 * @param <S> type of the session that the connection begins or joins
 */
public final class LoginPhase<S> implements Connection.Phase {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");
    /** Outcome of a login that did not fail. */
    public sealed interface Outcome<S> {}

    /** The connection is in the full feature phase, in a session. */
    public record LoggedIn<S>(S session) implements Outcome<S> {}

    /** The target has redirected the login. */
    public record Moved<S>(TargetAddress address) implements Outcome<S> {}

    /** Makes or joins the session of a login; on the event loop's thread, before any further PDU is handled. */
    @FunctionalInterface
    public interface SessionMaker<S> {
        S make(Connection connection, LoginResult result);
    }

    /** The numbering of commands: of a new session, or of the one that is joined (RFC 7143 section 11.12.8). */
    public interface Numbers {
        int cmdSn();

        void update(int expCmdSn, int maxCmdSn);
    }

    private static final int ITT = 0;

    private final Connection connection;
    private final InitiatorLogin login;
    private final int commands;
    private final SessionMaker<S> maker;
    private final Numbers numbers;
    private final CompletableFuture<Outcome<S>> outcome = new CompletableFuture<>();

    /**
     * @param commands most commands of the session that are at the target at a time
     */
    public LoginPhase(Connection connection, InitiatorLogin login, int commands, Numbers numbers,
            SessionMaker<S> maker) {
        this.connection = connection;
        this.login = login;
        this.commands = commands;
        this.numbers = numbers;
        this.maker = maker;
    }

    /** Returns a future that completes when the login has ended, exceptionally with an IOException. */
    public CompletableFuture<Outcome<S>> outcome() {
        return outcome;
    }

    /** Sends the first request. */
    public void start() {
        send(login.first());
        connection.transport().flush();
    }

    private void send(LoginAsk ask) {
        connection.send(ask.request(ITT, numbers.cmdSn(), connection.expStatSn()), ask.text());
    }

    @Override
    public MemorySegment dataDestination(Bhs bhs, int length) { return MemorySegment.NULL; }

    @Override
    public void received(Bhs bhs, MemorySegment data) throws ProtocolException {
        if (bhs.opcode() == Reject.OPCODE) {
            Reject reject = Reject.decode(bhs);
            fail(new LoginException("login rejected: "
                    + RejectReason.describe(reject.reason()), 0, 0));
            return;
        }
        if (bhs.opcode() != LoginResponse.OPCODE) {
            throw new ProtocolException("PDU " + Integer.toHexString(bhs.opcode())
                    + "h during login (RFC 7143 section 6.3)");
        }
        LoginResponse response = LoginResponse.decode(bhs);
        if (response.itt() != ITT) {
            throw new ProtocolException(
                    "Login Response for another task tag (RFC 7143 section 11.13)");
        }
        // Only one request is outstanding at a time, so that any StatSN received is the next.
        connection.status(new StatusReceiver(response.statSn()));
        numbers.update(response.expCmdSn(), response.maxCmdSn());
        switch (login.receive(LoginAnswer.of(response, data))) {
            case InitiatorLogin.Send(LoginAsk ask) -> send(ask);
            case InitiatorLogin.Complete(LoginResult result) -> {
                if (result.tsih() == 0) {
                    LOG.log(System.Logger.Level.WARNING, "{0} returned no TSIH (RFC 7143"
                            + " section 11.13.4): continuing with a single connection",
                            result.targetName().orElse("the discovery portal"));
                }
                connection.begin(result.parameters(), commands);
                outcome.complete(new LoggedIn<>(maker.make(connection, result)));
            }
            case InitiatorLogin.Fail(LoginException failure) -> fail(failure);
            case InitiatorLogin.Redirected(TargetAddress address, boolean _) -> {
                outcome.complete(new Moved<>(address));
                connection.close();
            }
        }
    }

    /** Waits for a future that the event loop's thread completes; a failure's message names task and portal. */
    public static <T> T await(CompletableFuture<T> future, int timeoutMs, TargetAddress portal,
            String task) throws IOException {
        String what = task + " at " + portal;
        try {
            return future.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException _) {
            throw new LoginException(what + ": no response within " + timeoutMs + " ms", 0, 0);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(what + ": interrupted", e);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof LoginException refused) {
                // Its message already describes the refused login.
                throw new LoginException(portal + ": " + refused.getMessage(),
                        refused.statusClass(), refused.statusDetail());
            }
            String why = cause == null ? e.getMessage() : cause.getMessage();
            throw new IOException(what + ": " + why, cause);
        }
    }

    private void fail(LoginException failure) {
        outcome.completeExceptionally(failure);
        connection.close();
    }

    @Override
    public void damaged(Bhs bhs) throws ProtocolException { throw connection.damage(bhs); }

    @Override
    public void batchEnd() {}

    @Override
    public void closed(@Nullable IOException why) {
        if (outcome.isDone()) {
            return;
        }
        IOException end = why != null ? why : new IOException("closed");
        boolean mayNeedChap = login.isWithoutAuthentication()
                && !(end instanceof ProtocolException);
        outcome.completeExceptionally(mayNeedChap
                ? new IOException(end.getMessage() + " during a login without authentication;"
                        + " it may require CHAP: specify a user and a secret", end)
                : end);
    }
}
