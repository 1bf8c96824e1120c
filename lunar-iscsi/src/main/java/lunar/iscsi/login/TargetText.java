package lunar.iscsi.login;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.iscsi.text.Key;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.SendTargets;
import lunar.iscsi.text.SessionEnd;
import lunar.iscsi.text.TextAssembler;
import lunar.iscsi.text.TextKeys;
import lunar.iscsi.text.TextTurn;

/**
 * The target's side of one text negotiation in the full feature phase (RFC 7143 section 6.2): SendTargets and a new
 * MaxRecvDataSegmentLength. One negotiation is one Initiator Task Tag.
 */
public final class TargetText {
    private final LoginResult result;
    private final Function<SendTargets, List<DiscoveredTarget>> targets;
    private final SessionEnd.Server ends;
    private final LoginLimits limits;
    private final TextAssembler texts;
    private final Deque<MemorySegment> unsent = new ArrayDeque<>();
    private int turns;
    private OptionalInt declared = OptionalInt.empty();

    /**
     * @param result the login of the connection
     * @param targets answers SendTargets with the targets and portals that this initiator may access
     * @param ends ends another session of this initiator; used by normal sessions only
     * @param limits limits of the initiator's requests
     */
    public TargetText(LoginResult result, Function<SendTargets, List<DiscoveredTarget>> targets,
            SessionEnd.Server ends, LoginLimits limits) {
        this.result = result;
        this.targets = targets;
        this.ends = ends;
        this.limits = limits;
        this.texts = new TextAssembler(limits.textBytes(), limits.keys());
    }

    /** Processes a Text Request and returns the Text Response. The negotiation is over when that is final. */
    public TextTurn receive(TextTurn request) throws ProtocolException {
        if (request.isFinal() && request.more()) {
            throw new ProtocolException(
                    "F and C of a Text Request exclude each other (RFC 7143 section 11.10.2)");
        }
        if (unsent.isEmpty()) { // a request that fetches our own text does not count
            if (++turns > limits.turns()) {
                throw new ProtocolException("more than " + limits.turns()
                        + " requests in one text negotiation");
            }
            var complete = texts.add(request.text(), request.more());
            if (complete.isEmpty()) {
                return new TextTurn(false, false, MemorySegment.NULL);
            }
            texts.refuseRepeated(complete.get());
            unsent.addAll(answer(complete.get())
                    .split(result.parameters().maxSendDataSegmentLength()));
        } else if (request.more() || request.text().byteSize() > 0) {
            throw new ProtocolException(
                    "text in the middle of the target's text (RFC 7143 section 11.11.2)");
        }
        var text = unsent.remove();
        boolean more = !unsent.isEmpty();
        return new TextTurn(request.isFinal() && !more, more, text);
    }

    /** Returns the MaxRecvDataSegmentLength that the initiator declared; it applies after the negotiation. */
    public OptionalInt maxSendDataSegmentLength() {
        return declared;
    }

    private TextKeys answer(TextKeys keys) throws ProtocolException {
        var pairs = new ArrayList<KeyValue>();
        for (var pair : keys.pairs()) {
            switch (Key.of(pair.key()).orElse(null)) {
                case null -> {
                    if (pair.key().equals(SessionEnd.KEY)
                            && result.sessionType() == SessionType.NORMAL) {
                        pairs.add(SessionEnd.respond(pair, ends));
                    } else if (!pair.declines()) {
                        pairs.add(new KeyValue(pair.key(), KeyValue.NOT_UNDERSTOOD));
                    }
                }
                case SEND_TARGETS -> pairs.addAll(sendTargets(pair));
                case MAX_RECV_DATA_SEGMENT_LENGTH -> {
                    if (!Key.MAX_RECV_DATA_SEGMENT_LENGTH.admits(pair.number())) {
                        throw new ProtocolException(
                                pair + " is out of range (RFC 7143 section 13.12)");
                    }
                    declared = OptionalInt.of((int) pair.number());
                }
                case INITIATOR_ALIAS -> {
                } // may change at any time; nothing runs on it
                default -> pairs.add(new KeyValue(pair.key(), KeyValue.REJECT));
            }
        }
        return new TextKeys(pairs);
    }

    private List<KeyValue> sendTargets(KeyValue pair) throws ProtocolException {
        var question = SendTargets.of(pair.value());
        boolean discovery = result.sessionType() == SessionType.DISCOVERY;
        boolean allowed = switch (question) {
            case SendTargets.All _ -> discovery;
            case SendTargets.Current _ -> !discovery;
            case SendTargets.Named _ -> true;
        };
        if (!allowed) { // appendix C
            return List.of(new KeyValue(pair.key(), KeyValue.REJECT));
        }
        return SendTargets.response(targets.apply(question)).pairs();
    }
}
