package lunar.iscsi.transfer;

import lunar.iscsi.ProtocolException;

/**
 * The initiator's plan for the data of one write (RFC 7143 sections 4.2.5.2, 11.3 and 11.7): immediate data,
 * unsolicited data, and the Data-Out that answer R2Ts. A reusable cursor that allocates nothing. Iterates over one
 * sequence at a time; the caller queues R2Ts received meanwhile.
 *
 * <pre>{@code
 * plan.begin(bytes);                    // the command: immediateBytes(), isCommandFinal()
 * plan.unsolicited();                   // or plan.answer(r2tSn, offset, length)
 * while (plan.next()) {
 *     // Data-Out with offset(), length(), dataSn(), isFinal()
 * }
 * }</pre>
 */
public final class DataOutPlan {
    private final BurstRules rules;
    private int maxPduBytes;

    private int bytes;
    private int sentBytes;
    private int nextR2tSn;
    /** Numbers of R2Ts that were lost with a connection may be missing before the next one. */
    private boolean mayMissR2ts;
    private int end;
    private int nextOffset;
    private int nextDataSn;
    private int offset;
    private int length;

    /**
     * For the commands of one connection.
     *
     * @param maxPduBytes MaxRecvDataSegmentLength that the target declared
     */
    public DataOutPlan(BurstRules rules, int maxPduBytes) {
        this.rules = rules;
        pduLimit(maxPduBytes);
    }

    /** The command goes (on) by a connection of which the target has declared this MaxRecvDataSegmentLength. */
    public void pduLimit(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("PDUs of " + bytes + " bytes");
        }
        maxPduBytes = bytes;
    }

    /** Starts with a command that writes so many bytes: its Expected Data Transfer Length. */
    public void begin(int expectedBytes) {
        if (expectedBytes < 0) {
            throw new IllegalArgumentException(expectedBytes + " bytes");
        }
        bytes = expectedBytes;
        sentBytes = immediateBytes();
        nextR2tSn = 0;
        mayMissR2ts = false;
        aim(0, 0);
    }

    /**
     * Continues after the command was reassigned to another connection (section 7.2.2). The target requests missing
     * data again, with R2TSNs after those it had sent, of which some may have been lost with the old connection.
     *
     * @param maxPduBytes MaxRecvDataSegmentLength that the target declared there
     */
    public void reassigned(int maxPduBytes) {
        pduLimit(maxPduBytes);
        mayMissR2ts = true;
    }

    /** Bytes that the command PDU carries itself, from offset 0. */
    public int immediateBytes() {
        return rules.immediateData() ? Math.min(firstBurstBytes(), maxPduBytes) : 0;
    }

    /** The F bit of the command: no unsolicited Data-Out follow. */
    public boolean isCommandFinal() {
        return rules.initialR2t() || immediateBytes() == firstBurstBytes();
    }

    /** Starts the unsolicited Data-Out; there is none if {@link #isCommandFinal}. */
    public void unsolicited() {
        aim(immediateBytes(), isCommandFinal() ? immediateBytes() : firstBurstBytes());
    }

    /** Validates an R2T and starts the Data-Out that answer it. */
    public void answer(int r2tSn, int bufferOffset, int desiredBytes) throws ProtocolException {
        if (r2tSn != nextR2tSn && !(mayMissR2ts && r2tSn - nextR2tSn > 0)) {
            throw new ProtocolException("R2TSN " + Integer.toUnsignedString(r2tSn) + ", expected "
                    + Integer.toUnsignedString(nextR2tSn) + " (RFC 7143 section 11.8.3)");
        }
        if (desiredBytes <= 0 || desiredBytes > rules.maxBurstBytes()) {
            throw new ProtocolException("R2T for " + Integer.toUnsignedString(desiredBytes)
                    + " bytes, MaxBurstLength is " + rules.maxBurstBytes()
                    + " (RFC 7143 section 11.8.4)");
        }
        if (bufferOffset < 0 || bufferOffset > bytes - desiredBytes) {
            throw new ProtocolException("R2T for " + desiredBytes + " bytes at "
                    + Integer.toUnsignedString(bufferOffset) + " of a command of " + bytes
                    + " bytes (RFC 7143 section 11.8.4)");
        }
        nextR2tSn = r2tSn + 1;
        mayMissR2ts = false;
        aim(bufferOffset, bufferOffset + desiredBytes);
    }

    /** R2TSN of the next R2T: how many have come. */
    public int expR2tSn() { return nextR2tSn; }

    /** Moves to the next Data-Out of the sequence; false if there is none. */
    public boolean next() {
        if (nextOffset == end) {
            return false;
        }
        offset = nextOffset;
        length = Math.min(maxPduBytes, end - offset);
        nextOffset += length;
        nextDataSn++;
        if (!rules.dataSequenceInOrder()) {
            sentBytes = Math.min(bytes, sentBytes + length);
        } else if (offset <= sentBytes) {
            sentBytes = Math.max(sentBytes, nextOffset);
        }
        return true;
    }

    /** Buffer Offset of the Data-Out. */
    public int offset() { return offset; }

    /** Length of its data segment. */
    public int length() { return length; }

    /** DataSN of the Data-Out: 0, 1, 2 and so on within its sequence. */
    public int dataSn() {
        return nextDataSn - 1;
    }

    /** The F bit of the Data-Out: the last of its sequence. */
    public boolean isFinal() {
        return nextOffset == end;
    }

    /**
     * Returns the number of bytes sent to the target, not counting retransmissions: with ordered sequences, the length
     * of the prefix that it has requested. If less than the whole at the end of the command, the target has not
     * received all data.
     */
    public int sentBytes() { return sentBytes; }

    private int firstBurstBytes() { return Math.min(rules.firstBurstBytes(), bytes); }

    private void aim(int from, int to) {
        nextOffset = from;
        end = to;
        nextDataSn = 0;
        assert from <= to && to <= bytes : from + " to " + to + " of " + bytes;
    }
}
