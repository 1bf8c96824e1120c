package lunar.iscsi.transfer;

import lunar.iscsi.pdu.Residual;

/**
 * The target's plan for the data of one read (RFC 7143 section 11.7): splits it into Data-In PDUs up to the initiator's
 * MaxRecvDataSegmentLength, in sequences of MaxBurstLength. A reusable cursor that allocates nothing.
 *
 * <pre>{@code
 * plan.begin(expectedBytes, wantedBytes, true);
 * while (plan.next()) {
 *     // Data-In with offset(), length(), dataSn(), isFinal(), carriesStatus()
 * }
 * if (!plan.statusSent()) {
 *     // SCSI Response with ExpDataSN = pduCount(), residual()
 * }
 * }</pre>
 */
public final class DataInPlan {
    private final int maxBurstBytes;
    private final int maxPduBytes;

    private int expectedBytes;
    private int wantedBytes;
    private int bytes;
    private boolean collapse;
    private int burstEnd;
    private int nextOffset;
    private int nextDataSn;
    private int offset;
    private int length;

    /**
     * For the commands of one connection.
     *
     * @param maxPduBytes MaxRecvDataSegmentLength that the initiator declared
     */
    public DataInPlan(BurstRules rules, int maxPduBytes) {
        if (maxPduBytes < 1) {
            throw new IllegalArgumentException("PDUs of " + maxPduBytes + " bytes");
        }
        maxBurstBytes = rules.maxBurstBytes();
        this.maxPduBytes = maxPduBytes;
    }

    /**
     * Starts with a read: the lesser of both lengths is sent.
     *
     * @param expected Expected Data Transfer Length of the command
     * @param wanted bytes the command has to send
     * @param collapseStatus whether the last Data-In carries the status; only for a status without sense data (section
     *        11.7.2), so in practice GOOD
     */
    public void begin(int expected, int wanted, boolean collapseStatus) {
        if (expected < 0 || wanted < 0) {
            throw new IllegalArgumentException(expected + ", " + wanted);
        }
        expectedBytes = expected;
        wantedBytes = wanted;
        bytes = Math.min(expected, wanted);
        collapse = collapseStatus;
        burstEnd = 0;
        nextOffset = 0;
        nextDataSn = 0;
    }

    /**
     * Leaves out what the initiator has got on another connection (section 7.2.2). Between {@link #begin} and the first
     * {@link #next}.
     *
     * @param fromOffset Buffer Offset to continue with
     * @param fromDataSn DataSN to continue with
     */
    public void resume(int fromOffset, int fromDataSn) {
        if (fromOffset < 0 || fromOffset > bytes || fromDataSn < 0) {
            throw new IllegalArgumentException(fromOffset + " of " + bytes + ", " + fromDataSn);
        }
        nextOffset = fromOffset;
        burstEnd = fromOffset;
        nextDataSn = fromDataSn;
    }

    /** Moves to the next Data-In; false if there is none. */
    public boolean next() {
        if (nextOffset == bytes) {
            return false;
        }
        if (nextOffset == burstEnd) {
            burstEnd += Math.min(maxBurstBytes, bytes - burstEnd);
        }
        offset = nextOffset;
        length = Math.min(maxPduBytes, burstEnd - offset);
        nextOffset += length;
        nextDataSn++;
        return true;
    }

    /** Buffer Offset of the Data-In. */
    public int offset() { return offset; }

    /** Length of its data segment. */
    public int length() { return length; }

    /** DataSN of the Data-In: 0, 1, 2 and so on within the command. */
    public int dataSn() {
        return nextDataSn - 1;
    }

    /** The F bit of the Data-In: the last of its sequence. */
    public boolean isFinal() {
        return nextOffset == burstEnd;
    }

    /** The S bit of the Data-In: it is the last and carries status, StatSN and residual. */
    public boolean carriesStatus() {
        return collapse && nextOffset == bytes;
    }

    /** Whether the status goes with the last Data-In, so that no SCSI Response follows. */
    public boolean statusSent() {
        return collapse && bytes > 0;
    }

    /** Data-In given out so far, at the end the ExpDataSN of the SCSI Response (section 11.4.8). */
    public int pduCount() {
        return nextDataSn;
    }

    /** Where the next Data-In begins. */
    public int nextOffset() { return nextOffset; }

    /** Bytes that are sent. */
    public int bytes() { return bytes; }

    /** The residual that the status carries. */
    public Residual residual() {
        return Residual.of(expectedBytes, wantedBytes);
    }
}
