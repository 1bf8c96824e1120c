package lunar.iscsi;

import java.util.Optional;

/** The initiator's side of one text negotiation in the full feature phase (RFC 7143 section 6.2). */
public final class InitiatorText {
    /** What to do next. */
    public sealed interface Step {}

    /** Send and wait for the response. */
    public record Send(TextTurn request) implements Step {}

    /** The target has answered: for SendTargets see {@link SendTargets#parse}. */
    public record Complete(TextKeys answer) implements Step {}

    /**
     * @param keys what to ask or declare, for example {@link SendTargets#request}
     * @param maxSendDataSegmentLength the longest data segment that the target accepts
     * @param limits how much the target may answer
     */
    public InitiatorText(TextKeys keys, int maxSendDataSegmentLength, LoginLimits limits) {}

    /** The first Text Request. */
    public TextTurn first() {
        throw new UnsupportedOperationException();
    }

    /** Takes a Text Response. */
    public Step receive(TextTurn response) throws ProtocolException {
        throw new UnsupportedOperationException();
    }
}
