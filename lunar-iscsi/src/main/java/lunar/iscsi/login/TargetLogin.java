package lunar.iscsi.login;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.LoginPolicy.Admission;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.text.Key;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.TargetAddress;
import lunar.iscsi.text.TextAssembler;
import lunar.iscsi.text.TextKeys;
import org.jspecify.annotations.Nullable;

/**
 * The target's side of the login phase of one connection (RFC 7143 chapter 6). Takes requests and returns what to send.
 * A peer that breaks rules gets a failure status; no request causes an exception.
 *
 * <pre>{@code
 * var login = new TargetLogin(policy, random::bytes, LoginLimits.DEFAULT);
 * switch (login.receive(LoginAsk.of(request, text))) {
 *     case TargetLogin.Respond(var answer) -> send(answer);
 *     case TargetLogin.Complete(var answer, var result) -> { send(answer); start(result); }
 *     case TargetLogin.Fail(var answer, var status, var reason) -> { send(answer); log(reason); close(); }
 * }
 * }</pre>
 */
public final class TargetLogin {
    /** Next action of the caller. */
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

    private static final int VERSION = 0;
    private static final Isid NO_ISID = new Isid(0);

    /** Longest data segment in either direction until the login is over (section 13.12's default). */
    private static final int MAX_SEGMENT_BYTES = OperationalParameters.DEFAULT
            .maxSendDataSegmentLength();

    private final LoginPolicy policy;
    private final ChallengeSource challenges;
    private final LoginLimits limits;
    private final TextAssembler texts;
    private final Deque<MemorySegment> unsent = new ArrayDeque<>();
    private int turns;
    private @Nullable LoginAsk first;
    private LoginStage stage = LoginStage.SECURITY;
    private @Nullable AdmittedLogin admitted;

    /** A login that has not begun. */
    public TargetLogin(LoginPolicy policy, ChallengeSource challenges, LoginLimits limits) {
        this.policy = policy;
        this.challenges = challenges;
        this.limits = limits;
        this.texts = new TextAssembler(limits.textBytes(), limits.keys());
    }

    /** Takes a Login Request. Not to be called after Complete or Fail. */
    public Step receive(LoginAsk ask) {
        try {
            return step(ask);
        } catch (ProtocolException e) {
            return fail(LoginStatus.INITIATOR_ERROR, String.valueOf(e.getMessage()));
        } catch (LoginException e) {
            var status = LoginStatus.of(e.statusClass(), e.statusDetail())
                    .orElse(LoginStatus.TARGET_ERROR);
            return fail(status, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Ends the login for a reason of the shell: a header that cannot be read (INITIATOR_ERROR), another PDU than a
     * Login Request (INVALID_DURING_LOGIN), no resources.
     */
    public Fail fail(LoginStatus status, String reason) {
        return failure(status, reason, MemorySegment.NULL);
    }

    /** Returns the tolerated violation of the RFC by the initiator, if any, for the log; it weakens nothing. */
    public Optional<String> tolerated() {
        var known = admitted;
        return known != null && known.isMethodTooLate()
                ? Optional.of("AuthMethod in the operational stage (RFC 7143 section 6.3.3)")
                : Optional.empty();
    }

    private Step step(LoginAsk ask) throws ProtocolException, LoginException {
        check(ask);
        if (!unsent.isEmpty()) {
            if (ask.more() || ask.text().byteSize() > 0) {
                throw new ProtocolException(
                        "text in the middle of the target's text (RFC 7143 section 11.13.3)");
            }
            return next(ask);
        }
        var complete = texts.add(ask.text(), ask.more());
        if (complete.isEmpty()) {
            return new Respond(answer(LoginStatus.SUCCESS, false, false, MemorySegment.NULL));
        }
        var keys = complete.get();
        texts.refuseRepeated(keys);
        var already = admitted;
        if (already != null) {
            AdmittedLogin.refuseNames(keys);
            say(already.receive(stage, ask.transit(), keys));
            return next(ask);
        }
        return switch (policy.admit(AdmittedLogin.applicant(ask, keys))) {
            case Admission.Accept terms -> {
                var known = new AdmittedLogin(AdmittedLogin.applicant(ask, keys), terms,
                        challenges);
                admitted = known;
                var answers = new ArrayList<>(known.introduction());
                answers.addAll(known.receive(stage, ask.transit(), keys));
                say(answers);
                yield next(ask);
            }
            case Admission.Refuse(var status, var reason) -> fail(status, reason);
            case Admission.Redirect(var address, boolean permanent) ->
                redirect(address, permanent);
        };
    }

    /** The rules of the header. */
    private void check(LoginAsk ask) throws ProtocolException, LoginException {
        // Requests that fetch further parts of our own text do not count; their number is bounded by the number of
        // parts.
        if (unsent.isEmpty() && ++turns > limits.turns()) {
            throw new ProtocolException("more than " + limits.turns() + " requests in one login");
        }
        var leading = first;
        if (leading == null) {
            first = ask;
            leading = ask;
            stage = ask.stage();
        }
        if (ask.versionMin() > VERSION) {
            throw AdmittedLogin.refusal(LoginStatus.UNSUPPORTED_VERSION,
                    "the initiator supports only protocol version " + ask.versionMin()
                            + " and later");
        }
        if (!ask.isid().equals(leading.isid()) || ask.tsih() != leading.tsih()
                || ask.cid() != leading.cid()) {
            throw new ProtocolException(
                    "ISID, TSIH or CID changes during the login (RFC 7143 section 11.12)");
        }
        if (ask.stage() == LoginStage.FULL_FEATURE || ask.stage() != stage) {
            throw new ProtocolException("a request of stage " + ask.stage() + " in stage " + stage
                    + " (RFC 7143 section 11.12.3)");
        }
        if (ask.transit() && (ask.more() || !ask.stage().leadsTo(ask.nextStage()))) {
            throw new ProtocolException("no transition from " + ask.stage() + " to "
                    + ask.nextStage() + (ask.more() ? " in the middle of a text" : "")
                    + " (RFC 7143 section 11.12.3)");
        }
    }

    private void say(List<KeyValue> answers) {
        unsent.addAll(new TextKeys(answers).split(MAX_SEGMENT_BYTES));
    }

    /** Sends the next piece of our text; with the last one the stage may end. */
    private Step next(LoginAsk ask) throws ProtocolException {
        var text = unsent.remove();
        var known = admitted;
        boolean more = !unsent.isEmpty();
        if (known == null || more || !ask.transit() || !known.isReady(stage)) {
            return new Respond(answer(LoginStatus.SUCCESS, false, more, text));
        }
        if (ask.nextStage() != LoginStage.FULL_FEATURE) {
            var answer = answer(LoginStatus.SUCCESS, true, false, text);
            stage = ask.nextStage();
            return new Respond(answer);
        }
        var result = known.result();
        return new Complete(new LoginAnswer(true, false, stage, LoginStage.FULL_FEATURE, VERSION,
                VERSION, ask.isid(), result.tsih(), 0, 0, text), result);
    }

    private Fail redirect(TargetAddress address, boolean permanent) {
        // Section 13.8: no portal group tag in a redirection.
        var bare = new TargetAddress(address.host(), address.port(), OptionalInt.empty());
        var text = TextKeys.of(new KeyValue(Key.TARGET_ADDRESS.text(), bare.toString())).write();
        return failure(
                permanent ? LoginStatus.MOVED_PERMANENTLY : LoginStatus.MOVED_TEMPORARILY,
                "redirected to " + bare, text);
    }

    private Fail failure(LoginStatus status, String reason, MemorySegment text) {
        return new Fail(answer(status, false, false, text), status, reason);
    }

    private LoginAnswer answer(LoginStatus status, boolean transit, boolean more,
            MemorySegment text) {
        var ask = first;
        return new LoginAnswer(transit, more, stage,
                stage == LoginStage.SECURITY && transit ? LoginStage.OPERATIONAL : stage, VERSION,
                VERSION, ask == null ? NO_ISID : ask.isid(), ask == null ? 0 : ask.tsih(),
                status.statusClass(), status.detail(), text);
    }
}
