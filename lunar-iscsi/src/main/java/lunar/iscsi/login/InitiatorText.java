package lunar.iscsi.login;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.TextAssembler;
import lunar.iscsi.text.TextKeys;
import lunar.iscsi.text.TextTurn;

/**
 * The initiator's side of one text negotiation in the full feature phase (RFC 7143 section 6.2): {@link #first} returns
 * the first request; {@link #receive} takes each response and returns the next step.
 */
public final class InitiatorText {
    /** Next action of the caller. */
    public sealed interface Step {}

    /** Send and wait for the response. */
    public record Send(TextTurn request) implements Step {}

    /** The target has answered: for SendTargets see {@link lunar.iscsi.text.SendTargets#parse}. */
    public record Complete(TextKeys answer) implements Step {}

    private final TextAssembler texts;
    private final LoginLimits limits;
    private final Deque<MemorySegment> unsent;
    private final List<KeyValue> answer = new ArrayList<>();
    private int turns;

    /**
     * @param keys keys to query or declare, for example {@link lunar.iscsi.text.SendTargets#request}
     * @param maxSendDataSegmentLength the longest data segment that the target accepts
     * @param limits limits of the target's responses
     */
    public InitiatorText(TextKeys keys, int maxSendDataSegmentLength, LoginLimits limits) {
        this.unsent = new ArrayDeque<>(keys.split(maxSendDataSegmentLength));
        this.limits = limits;
        this.texts = new TextAssembler(limits.textBytes(), limits.keys());
    }

    /** The first Text Request. */
    public TextTurn first() { return next(); }

    /** Takes a Text Response. */
    public Step receive(TextTurn response) throws ProtocolException {
        if (++turns > limits.turns()) {
            throw new ProtocolException(
                    "more than " + limits.turns() + " responses in one text negotiation");
        }
        if (response.isFinal() && response.more()) {
            throw new ProtocolException(
                    "F and C of a Text Response exclude each other (RFC 7143 section 11.11.2)");
        }
        if (!unsent.isEmpty()) {
            if (response.isFinal() || response.more() || response.text().byteSize() > 0) {
                throw new ProtocolException(
                        "text in the middle of the initiator's text (RFC 7143 section 11.10.2)");
            }
            return new Send(next());
        }
        texts.add(response.text(), response.more()).ifPresent(keys -> answer.addAll(keys.pairs()));
        if (response.isFinal()) {
            return new Complete(new TextKeys(answer));
        }
        return new Send(new TextTurn(true, false, MemorySegment.NULL));
    }

    private TextTurn next() {
        var text = unsent.remove();
        boolean more = !unsent.isEmpty();
        return new TextTurn(!more, more, text);
    }
}
