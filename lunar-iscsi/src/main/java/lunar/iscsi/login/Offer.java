package lunar.iscsi.login;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import lunar.iscsi.text.Key;

/**
 * Values of the operational keys that one end offers and accepts (RFC 7143 chapter 13). Start from {@link #DEFAULT}:
 *
 * <pre>{@code
 * Offer offer = Offer.DEFAULT.withHeaderDigest(DigestChoice.REQUIRE_CRC32C).withMaxOutstandingR2t(4);
 * }</pre>
 *
 * @param headerDigest HeaderDigest
 * @param dataDigest DataDigest
 * @param maxConnections MaxConnections, 1 to 65535
 * @param initialR2t InitialR2T: Yes if either end says so
 * @param immediateData ImmediateData: Yes if both ends say so
 * @param maxReceiveDataSegmentLength MaxRecvDataSegmentLength to declare, 512 to 2^24-1
 * @param maxBurstLength MaxBurstLength, 512 to 2^24-1; the smaller value applies
 * @param firstBurstLength FirstBurstLength, 512 to MaxBurstLength; the smaller value applies
 * @param defaultTime2WaitSeconds DefaultTime2Wait, 0 to 3600; the longer value applies
 * @param defaultTime2RetainSeconds DefaultTime2Retain, 0 to 3600; the shorter value applies
 * @param maxOutstandingR2t MaxOutstandingR2T, 1 to 65535; the smaller value applies
 * @param dataPduInOrder DataPDUInOrder: Yes if either end says so
 * @param dataSequenceInOrder DataSequenceInOrder: Yes if either end says so
 * @param errorRecoveryLevel ErrorRecoveryLevel, 0 to 2; the smaller value applies
 * @param taskReporting TaskReporting: what is accepted, the preferred one first
 * @param protocolLevel iSCSIProtocolLevel, 0 to 31; the smaller value applies
 * @param iser what to negotiate for iSER; empty answers RDMAExtensions=No
 */
public record Offer(DigestChoice headerDigest, DigestChoice dataDigest, int maxConnections,
        boolean initialR2t, boolean immediateData, int maxReceiveDataSegmentLength,
        int maxBurstLength, int firstBurstLength, int defaultTime2WaitSeconds,
        int defaultTime2RetainSeconds, int maxOutstandingR2t, boolean dataPduInOrder,
        boolean dataSequenceInOrder, int errorRecoveryLevel, List<TaskReporting> taskReporting,
        int protocolLevel, Optional<Iser> iser) {

    /**
     * Values that one end wants of the keys of RFC 7145 section 6.
     *
     * @param initiatorReceiveDataSegmentLength InitiatorRecvDataSegmentLength, 512 to 2^24-1; the smaller value applies
     * @param targetReceiveDataSegmentLength TargetRecvDataSegmentLength, 512 to 2^24-1; the smaller value applies
     * @param maxOutstandingUnexpectedPdus MaxOutstandingUnexpectedPDUs to declare: 0 or 2 to 2^32-1
     * @param maxAhsLengthBytes MaxAHSLength to declare: 0 or 2 to 2^32-1
     * @param taggedBufferForSolicitedDataOnly TaggedBufferForSolicitedDataOnly, declared by an initiator
     * @param helloRequired iSERHelloRequired, declared by an initiator
     */
    public record Iser(int initiatorReceiveDataSegmentLength, int targetReceiveDataSegmentLength,
            long maxOutstandingUnexpectedPdus, long maxAhsLengthBytes,
            boolean taggedBufferForSolicitedDataOnly, boolean helloRequired) {
        public Iser {
            Key.INITIATOR_RECV_LENGTH.check(initiatorReceiveDataSegmentLength);
            Key.TARGET_RECV_LENGTH.check(targetReceiveDataSegmentLength);
            Key.MAX_UNEXPECTED_PDUS.check(maxOutstandingUnexpectedPdus);
            Key.MAX_AHS_LENGTH.check(maxAhsLengthBytes);
        }
    }

    /** Offer for a fast network and a modern peer; Time2Wait is left to the peer. */
    public static final Offer DEFAULT = new Offer(DigestChoice.PREFER_NONE,
            DigestChoice.PREFER_NONE, 1, false, true, 256 << 10, 1 << 20, 256 << 10, 0, 20, 16,
            true, true, 0, List.of(TaskReporting.RFC3720), 1, Optional.empty());

    public Offer {
        Key.MAX_CONNECTIONS.check(maxConnections);
        Key.MAX_RECV_DATA_SEGMENT_LENGTH.check(maxReceiveDataSegmentLength);
        Key.MAX_BURST_LENGTH.check(maxBurstLength);
        Key.FIRST_BURST_LENGTH.check(firstBurstLength);
        Key.DEFAULT_TIME2WAIT.check(defaultTime2WaitSeconds);
        Key.DEFAULT_TIME2RETAIN.check(defaultTime2RetainSeconds);
        Key.MAX_OUTSTANDING_R2T.check(maxOutstandingR2t);
        Key.ERROR_RECOVERY_LEVEL.check(errorRecoveryLevel);
        Key.PROTOCOL_LEVEL.check(protocolLevel);
        taskReporting = List.copyOf(taskReporting);
        if (taskReporting.isEmpty()) {
            throw new IllegalArgumentException("an offer needs at least one TaskReporting value");
        }
        if (firstBurstLength > maxBurstLength) {
            throw new IllegalArgumentException("FirstBurstLength " + firstBurstLength
                    + " over MaxBurstLength " + maxBurstLength);
        }
    }

    /** Returns this offer with another HeaderDigest. */
    public Offer withHeaderDigest(DigestChoice value) {
        return with(draft -> draft.headerDigest = value);
    }

    /** Returns this offer with another DataDigest. */
    public Offer withDataDigest(DigestChoice value) {
        return with(draft -> draft.dataDigest = value);
    }

    /** Returns this offer with another MaxConnections. */
    public Offer withMaxConnections(int value) {
        return with(draft -> draft.maxConnections = value);
    }

    /** Returns this offer with another InitialR2T. */
    public Offer withInitialR2t(boolean value) {
        return with(draft -> draft.initialR2t = value);
    }

    /** Returns this offer with another ImmediateData. */
    public Offer withImmediateData(boolean value) {
        return with(draft -> draft.immediateData = value);
    }

    /** Returns this offer with another MaxRecvDataSegmentLength. */
    public Offer withMaxReceiveDataSegmentLength(int value) {
        return with(draft -> draft.maxReceiveDataSegmentLength = value);
    }

    /** Returns this offer with other burst lengths: together, since FirstBurstLength is at most MaxBurstLength. */
    public Offer withBurstLengths(int first, int max) {
        return with(draft -> {
            draft.firstBurstLength = first;
            draft.maxBurstLength = max;
        });
    }

    /** Returns this offer with another DefaultTime2Wait. */
    public Offer withDefaultTime2WaitSeconds(int value) {
        return with(draft -> draft.defaultTime2WaitSeconds = value);
    }

    /** Returns this offer with another DefaultTime2Retain. */
    public Offer withDefaultTime2RetainSeconds(int value) {
        return with(draft -> draft.defaultTime2RetainSeconds = value);
    }

    /** Returns this offer with another MaxOutstandingR2T. */
    public Offer withMaxOutstandingR2t(int value) {
        return with(draft -> draft.maxOutstandingR2t = value);
    }

    /** Returns this offer with another DataPDUInOrder. */
    public Offer withDataPduInOrder(boolean value) {
        return with(draft -> draft.dataPduInOrder = value);
    }

    /** Returns this offer with another DataSequenceInOrder. */
    public Offer withDataSequenceInOrder(boolean value) {
        return with(draft -> draft.dataSequenceInOrder = value);
    }

    /** Returns this offer with another ErrorRecoveryLevel. */
    public Offer withErrorRecoveryLevel(int value) {
        return with(draft -> draft.errorRecoveryLevel = value);
    }

    /** Returns this offer with another TaskReporting. */
    public Offer withTaskReporting(List<TaskReporting> value) {
        return with(draft -> draft.taskReporting = value);
    }

    /** Returns this offer with another iSCSIProtocolLevel. */
    public Offer withProtocolLevel(int value) {
        return with(draft -> draft.protocolLevel = value);
    }

    /** Returns this offer with negotiation of iSER. */
    public Offer withIser(Iser value) {
        return with(draft -> draft.iser = Optional.of(value));
    }

    private Offer with(Consumer<Draft> change) {
        var draft = new Draft(this);
        change.accept(draft);
        return draft.offer();
    }

    /** The components of an offer, one of which is about to change. */
    private static final class Draft {
        private DigestChoice headerDigest;
        private DigestChoice dataDigest;
        private int maxConnections;
        private boolean initialR2t;
        private boolean immediateData;
        private int maxReceiveDataSegmentLength;
        private int maxBurstLength;
        private int firstBurstLength;
        private int defaultTime2WaitSeconds;
        private int defaultTime2RetainSeconds;
        private int maxOutstandingR2t;
        private boolean dataPduInOrder;
        private boolean dataSequenceInOrder;
        private int errorRecoveryLevel;
        private List<TaskReporting> taskReporting;
        private int protocolLevel;
        private Optional<Iser> iser;

        Draft(Offer from) {
            headerDigest = from.headerDigest;
            dataDigest = from.dataDigest;
            maxConnections = from.maxConnections;
            initialR2t = from.initialR2t;
            immediateData = from.immediateData;
            maxReceiveDataSegmentLength = from.maxReceiveDataSegmentLength;
            maxBurstLength = from.maxBurstLength;
            firstBurstLength = from.firstBurstLength;
            defaultTime2WaitSeconds = from.defaultTime2WaitSeconds;
            defaultTime2RetainSeconds = from.defaultTime2RetainSeconds;
            maxOutstandingR2t = from.maxOutstandingR2t;
            dataPduInOrder = from.dataPduInOrder;
            dataSequenceInOrder = from.dataSequenceInOrder;
            errorRecoveryLevel = from.errorRecoveryLevel;
            taskReporting = from.taskReporting;
            protocolLevel = from.protocolLevel;
            iser = from.iser;
        }

        Offer offer() {
            return new Offer(headerDigest, dataDigest, maxConnections, initialR2t, immediateData,
                    maxReceiveDataSegmentLength, maxBurstLength, firstBurstLength,
                    defaultTime2WaitSeconds, defaultTime2RetainSeconds, maxOutstandingR2t,
                    dataPduInOrder, dataSequenceInOrder, errorRecoveryLevel, taskReporting,
                    protocolLevel, iser);
        }
    }
}
