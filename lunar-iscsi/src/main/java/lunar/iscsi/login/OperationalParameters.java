package lunar.iscsi.login;

import java.util.Optional;
import lunar.iscsi.framing.Framing;

/**
 * Parameters of a connection and its session, as negotiated at login (RFC 7143 chapter 13), seen from one end.
 *
 * @param headerDigest HeaderDigest is CRC32C
 * @param dataDigest DataDigest is CRC32C
 * @param maxConnections MaxConnections
 * @param initialR2t InitialR2T: no unsolicited Data-Out
 * @param immediateData ImmediateData
 * @param maxReceiveDataSegmentLength the MaxRecvDataSegmentLength that this end declared
 * @param maxSendDataSegmentLength the MaxRecvDataSegmentLength that the peer declared
 * @param maxBurstLength MaxBurstLength
 * @param firstBurstLength FirstBurstLength, at most {@code maxBurstLength}
 * @param defaultTime2WaitSeconds DefaultTime2Wait
 * @param defaultTime2RetainSeconds DefaultTime2Retain
 * @param maxOutstandingR2t MaxOutstandingR2T
 * @param dataPduInOrder DataPDUInOrder
 * @param dataSequenceInOrder DataSequenceInOrder
 * @param errorRecoveryLevel ErrorRecoveryLevel
 * @param taskReporting TaskReporting
 * @param protocolLevel iSCSIProtocolLevel (RFC 7144)
 * @param iser what RFC 7145 adds; empty unless RDMAExtensions=Yes
 */
public record OperationalParameters(boolean headerDigest, boolean dataDigest, int maxConnections,
        boolean initialR2t, boolean immediateData, int maxReceiveDataSegmentLength,
        int maxSendDataSegmentLength, int maxBurstLength, int firstBurstLength,
        int defaultTime2WaitSeconds, int defaultTime2RetainSeconds, int maxOutstandingR2t,
        boolean dataPduInOrder, boolean dataSequenceInOrder, int errorRecoveryLevel,
        TaskReporting taskReporting, int protocolLevel, Optional<Iser> iser) {

    /**
     * Parameters that iSER adds (RFC 7145 section 6).
     *
     * @param initiatorReceiveDataSegmentLength InitiatorRecvDataSegmentLength
     * @param targetReceiveDataSegmentLength TargetRecvDataSegmentLength
     * @param maxOutstandingUnexpectedPdus what the peer declared; 0 for no limit
     * @param maxAhsLengthBytes what the peer declared; 0 for no limit
     * @param taggedBufferForSolicitedDataOnly TaggedBufferForSolicitedDataOnly
     * @param helloRequired iSERHelloRequired
     */
    public record Iser(int initiatorReceiveDataSegmentLength, int targetReceiveDataSegmentLength,
            long maxOutstandingUnexpectedPdus, long maxAhsLengthBytes,
            boolean taggedBufferForSolicitedDataOnly, boolean helloRequired) {}

    /** Parameters that hold where nothing is negotiated. */
    public static final OperationalParameters DEFAULT = new OperationalParameters(false, false, 1,
            true, true, 8192, 8192, 262144, 65536, 2, 20, 1, true, true, 0, TaskReporting.RFC3720,
            1, Optional.empty());

    public OperationalParameters {
        if (firstBurstLength > maxBurstLength) {
            throw new IllegalArgumentException(
                    "FirstBurstLength " + firstBurstLength + " over " + maxBurstLength);
        }
    }

    /** Returns these parameters with another MaxRecvDataSegmentLength of the peer, from a Text Request or Response. */
    public OperationalParameters withMaxSendDataSegmentLength(int bytes) {
        return new OperationalParameters(headerDigest, dataDigest, maxConnections, initialR2t,
                immediateData, maxReceiveDataSegmentLength, bytes, maxBurstLength, firstBurstLength,
                defaultTime2WaitSeconds, defaultTime2RetainSeconds, maxOutstandingR2t,
                dataPduInOrder, dataSequenceInOrder, errorRecoveryLevel, taskReporting,
                protocolLevel, iser);
    }

    /** Returns the framing that the transport uses in the full feature phase. */
    public Framing framing(int maxReceiveAhsBytes) {
        return new Framing(headerDigest, dataDigest, maxReceiveDataSegmentLength,
                maxReceiveAhsBytes);
    }
}
