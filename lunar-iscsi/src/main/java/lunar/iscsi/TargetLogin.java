package lunar.iscsi;

/**
 * The target's side of the login phase of one connection (RFC 7143 chapter 6). Requests go in, what to send comes
 * out; a peer can break every rule and gets a failure status, never an exception.
 *
 * <pre>{@code
 * var login = new TargetLogin(policy, random::bytes, LoginLimits.DEFAULT);
 * switch (login.receive(ask)) {
 *     case TargetLogin.Respond(var answer) -> send(answer);
 *     case TargetLogin.Complete(var answer, var result) -> { send(answer); start(result); }
 *     case TargetLogin.Fail(var answer, var status, var reason) -> { send(answer); log(reason); close(); }
 * }
 * }</pre>
 */
public final class TargetLogin {
    /** What to do next. */
    public sealed interface Step {
        /** The Login Response to send. */
        LoginAnswer answer();
    }

    /** Send and wait for the next request. */
    public record Respond(LoginAnswer answer) implements Step {}

    /** Send; from the next PDU on the connection is in the full feature phase. */
    public record Complete(LoginAnswer answer, LoginResult result) implements Step {}

    /**
     * Send and close the connection; also for a redirection.
     *
     * @param reason one line for the log, fit to print
     */
    public record Fail(LoginAnswer answer, LoginStatus status, String reason) implements Step {}

    /** A login that has not begun. */
    public TargetLogin(LoginPolicy policy, ChallengeSource challenges, LoginLimits limits) {}

    /** Takes a Login Request. Not to be called after Complete or Fail. */
    public Step receive(LoginAsk ask) {
        throw new UnsupportedOperationException();
    }

    /** Ends the login for a reason of the shell: another PDU than a Login Request (INVALID_DURING_LOGIN), no resources. */
    public Fail fail(LoginStatus status, String reason) {
        throw new UnsupportedOperationException();
    }
}
