package lunar.iscsi.login;

import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.text.Key;
import lunar.iscsi.text.Key.Rule;
import lunar.iscsi.text.KeyValue;

/**
 * Applies an {@link Offer} to each key: proposals, responses and valid responses of the peer (RFC 7143 section 6.2).
 */
record Terms(Offer offer) {

    /** The keys that an initiator proposes, in order. */
    List<Key> proposed() {
        var keys = new ArrayList<Key>();
        if (offer.iser().isPresent()) { // first, since the others depend on it (RFC 7145 section 6.3)
            keys.addAll(List.of(Key.RDMA_EXTENSIONS, Key.INITIATOR_RECV_LENGTH,
                    Key.TARGET_RECV_LENGTH));
        }
        keys.addAll(List.of(Key.HEADER_DIGEST, Key.DATA_DIGEST, Key.MAX_CONNECTIONS,
                Key.INITIAL_R2T, Key.IMMEDIATE_DATA, Key.MAX_BURST_LENGTH, Key.FIRST_BURST_LENGTH,
                Key.DEFAULT_TIME2WAIT, Key.DEFAULT_TIME2RETAIN, Key.MAX_OUTSTANDING_R2T,
                Key.DATA_PDU_IN_ORDER, Key.DATA_SEQUENCE_IN_ORDER, Key.ERROR_RECOVERY_LEVEL));
        // Targets from before RFC 7143 need not hear of these while the default will do.
        if (!offer.taskReporting().equals(List.of(TaskReporting.RFC3720))) {
            keys.add(Key.TASK_REPORTING);
        }
        if (offer.protocolLevel() != 1) {
            keys.add(Key.PROTOCOL_LEVEL);
        }
        return keys;
    }

    /** Returns the value to propose for a key. */
    String proposal(Key key) {
        return switch (key.rule()) {
            case Rule.Choice _ -> String.join(",", accepted(key));
            case Rule.Or _,Rule.And _ -> wanted(key) ? "Yes" : "No";
            default -> Long.toString(number(key));
        };
    }

    /** Returns the answer to a proposal; "Reject" where nothing proposed is accepted. */
    String answer(Key key, KeyValue pair) throws ProtocolException {
        return switch (key.rule()) {
            case Rule.Choice _ -> {
                var accepted = accepted(key);
                yield pair.list().stream().filter(accepted::contains).findFirst()
                        .orElse(KeyValue.REJECT);
            }
            case Rule.Or _ -> pair.isYes() || wanted(key) ? "Yes" : "No";
            case Rule.And _ -> pair.isYes() && wanted(key) ? "Yes" : "No";
            case Rule.Min _ when key.admits(pair.number()) ->
                Long.toString(Math.min(pair.number(), number(key)));
            case Rule.Max _ when key.admits(pair.number()) ->
                Long.toString(Math.max(pair.number(), number(key)));
            default -> KeyValue.REJECT;
        };
    }

    /** Whether the peer may answer so to a proposal of ours. */
    boolean isAnswer(Key key, String proposal, KeyValue pair) throws ProtocolException {
        return switch (key.rule()) {
            case Rule.Choice _ -> List.of(proposal.split(",")).contains(pair.value());
            case Rule.Or _ -> pair.isYes() || proposal.equals("No");
            case Rule.And _ -> !pair.isYes() || proposal.equals("Yes");
            case Rule.Min _ ->
                key.admits(pair.number()) && pair.number() <= Long.parseLong(proposal);
            case Rule.Max _ ->
                key.admits(pair.number()) && pair.number() >= Long.parseLong(proposal);
            default -> false;
        };
    }

    /** Returns the value to declare for a key; 1 for Yes. */
    long declaration(Key key) {
        var iser = offer.iser();
        return switch (key) {
            case MAX_UNEXPECTED_PDUS ->
                iser.map(Offer.Iser::maxOutstandingUnexpectedPdus).orElse(0L);
            case MAX_AHS_LENGTH -> iser.map(Offer.Iser::maxAhsLengthBytes).orElse(0L);
            case TAGGED_BUFFER_ONLY ->
                iser.map(Offer.Iser::taggedBufferForSolicitedDataOnly).orElse(false) ? 1 : 0;
            case ISER_HELLO -> iser.map(Offer.Iser::helloRequired).orElse(false) ? 1 : 0;
            case MAX_RECV_DATA_SEGMENT_LENGTH -> offer.maxReceiveDataSegmentLength();
            default -> throw new IllegalArgumentException(key + " is not declared");
        };
    }

    /** Refuses a digest that this end does not accept. */
    void checkDigest(Key key, String value) throws ProtocolException {
        boolean digest = key == Key.HEADER_DIGEST || key == Key.DATA_DIGEST;
        if (digest && !accepted(key).contains(value)) {
            throw new ProtocolException(key.text() + "=" + String.join(",", accepted(key))
                    + " is required here, but the peer does not accept it");
        }
    }

    /** The value of a TaskReporting key that was settled. */
    static TaskReporting taskReporting(String text) {
        for (var value : TaskReporting.values()) {
            if (value.text().equals(text)) {
                return value;
            }
        }
        throw new IllegalArgumentException("TaskReporting=" + text);
    }

    private List<String> accepted(Key key) {
        return switch (key) {
            case HEADER_DIGEST -> offer.headerDigest().offered();
            case DATA_DIGEST -> offer.dataDigest().offered();
            case TASK_REPORTING -> offer.taskReporting().stream().map(TaskReporting::text).toList();
            default -> throw new IllegalArgumentException(key + " is no list");
        };
    }

    private boolean wanted(Key key) {
        return switch (key) {
            case INITIAL_R2T -> offer.initialR2t();
            case IMMEDIATE_DATA -> offer.immediateData();
            case DATA_PDU_IN_ORDER -> offer.dataPduInOrder();
            case DATA_SEQUENCE_IN_ORDER -> offer.dataSequenceInOrder();
            case RDMA_EXTENSIONS -> offer.iser().isPresent();
            default -> throw new IllegalArgumentException(key + " is not Yes or No");
        };
    }

    private long number(Key key) {
        var iser = offer.iser();
        return switch (key) {
            case MAX_CONNECTIONS -> offer.maxConnections();
            case MAX_BURST_LENGTH -> offer.maxBurstLength();
            case FIRST_BURST_LENGTH -> offer.firstBurstLength();
            case DEFAULT_TIME2WAIT -> offer.defaultTime2WaitSeconds();
            case DEFAULT_TIME2RETAIN -> offer.defaultTime2RetainSeconds();
            case MAX_OUTSTANDING_R2T -> offer.maxOutstandingR2t();
            case ERROR_RECOVERY_LEVEL -> offer.errorRecoveryLevel();
            case PROTOCOL_LEVEL -> offer.protocolLevel();
            case INITIATOR_RECV_LENGTH ->
                iser.map(Offer.Iser::initiatorReceiveDataSegmentLength).orElse(8192);
            case TARGET_RECV_LENGTH ->
                iser.map(Offer.Iser::targetReceiveDataSegmentLength).orElse(8192);
            default -> throw new IllegalArgumentException(key + " is no number");
        };
    }
}
