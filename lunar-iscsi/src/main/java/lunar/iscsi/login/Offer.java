package lunar.iscsi.login;

import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import lunar.iscsi.text.Key;

/**
 * Values of the operational keys that one end wants and accepts (RFC 7143 chapter 13). Start from {@link #DEFAULT}:
 *
 * <pre>{@code
 * Offer offer = Offer.DEFAULT.with(o -> o.headerDigest(DigestChoice.REQUIRE_CRC32C).maxOutstandingR2t(4));
 * }</pre>
 *
 * @param headerDigest HeaderDigest
 * @param dataDigest DataDigest
 * @param maxConnections MaxConnections, 1 to 65535
 * @param initialR2t InitialR2T: Yes if either end says so
 * @param immediateData ImmediateData: Yes if both ends say so
 * @param maxReceiveDataSegmentLength MaxRecvDataSegmentLength to declare, 512 to 2^24-1
 * @param maxBurstLength MaxBurstLength, 512 to 2^24-1; the smaller one holds
 * @param firstBurstLength FirstBurstLength, 512 to MaxBurstLength; the smaller one holds
 * @param defaultTime2WaitSeconds DefaultTime2Wait, 0 to 3600; the longer one holds
 * @param defaultTime2RetainSeconds DefaultTime2Retain, 0 to 3600; the shorter one holds
 * @param maxOutstandingR2t MaxOutstandingR2T, 1 to 65535; the smaller one holds
 * @param dataPduInOrder DataPDUInOrder: Yes if either end says so
 * @param dataSequenceInOrder DataSequenceInOrder: Yes if either end says so
 * @param errorRecoveryLevel ErrorRecoveryLevel, 0 to 2; the smaller one holds
 * @param taskReporting TaskReporting: what is accepted, the preferred one first
 * @param protocolLevel iSCSIProtocolLevel, 0 to 31; the smaller one holds
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
     * @param initiatorReceiveDataSegmentLength InitiatorRecvDataSegmentLength, 512 to 2^24-1; the smaller one holds
     * @param targetReceiveDataSegmentLength TargetRecvDataSegmentLength, 512 to 2^24-1; the smaller one holds
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

    /** Offer for a fast network and a modern peer; no Time2Wait but what the peer wants. */
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
            throw new IllegalArgumentException("an offer without TaskReporting");
        }
        if (firstBurstLength > maxBurstLength) {
            throw new IllegalArgumentException("FirstBurstLength " + firstBurstLength
                    + " over MaxBurstLength " + maxBurstLength);
        }
    }

    /** Returns this offer with changes. */
    public Offer with(UnaryOperator<Builder> changes) {
        return changes.apply(new Builder(this)).build();
    }

    /** Changes an offer; {@link Offer#with} makes it. */
    public static final class Builder {
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

        private Builder(Offer from) {
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

        private Offer build() {
            return new Offer(headerDigest, dataDigest, maxConnections, initialR2t, immediateData,
                    maxReceiveDataSegmentLength, maxBurstLength, firstBurstLength,
                    defaultTime2WaitSeconds, defaultTime2RetainSeconds, maxOutstandingR2t,
                    dataPduInOrder, dataSequenceInOrder, errorRecoveryLevel, taskReporting,
                    protocolLevel, iser);
        }

        public Builder headerDigest(DigestChoice value) {
            headerDigest = value;
            return this;
        }

        public Builder dataDigest(DigestChoice value) {
            dataDigest = value;
            return this;
        }

        public Builder maxConnections(int value) {
            maxConnections = value;
            return this;
        }

        public Builder initialR2t(boolean value) {
            initialR2t = value;
            return this;
        }

        public Builder immediateData(boolean value) {
            immediateData = value;
            return this;
        }

        public Builder maxReceiveDataSegmentLength(int value) {
            maxReceiveDataSegmentLength = value;
            return this;
        }

        public Builder maxBurstLength(int value) {
            maxBurstLength = value;
            return this;
        }

        public Builder firstBurstLength(int value) {
            firstBurstLength = value;
            return this;
        }

        public Builder defaultTime2WaitSeconds(int value) {
            defaultTime2WaitSeconds = value;
            return this;
        }

        public Builder defaultTime2RetainSeconds(int value) {
            defaultTime2RetainSeconds = value;
            return this;
        }

        public Builder maxOutstandingR2t(int value) {
            maxOutstandingR2t = value;
            return this;
        }

        public Builder dataPduInOrder(boolean value) {
            dataPduInOrder = value;
            return this;
        }

        public Builder dataSequenceInOrder(boolean value) {
            dataSequenceInOrder = value;
            return this;
        }

        public Builder errorRecoveryLevel(int value) {
            errorRecoveryLevel = value;
            return this;
        }

        public Builder taskReporting(List<TaskReporting> value) {
            taskReporting = value;
            return this;
        }

        public Builder protocolLevel(int value) {
            protocolLevel = value;
            return this;
        }

        public Builder iser(Iser value) {
            iser = Optional.of(value);
            return this;
        }
    }
}
