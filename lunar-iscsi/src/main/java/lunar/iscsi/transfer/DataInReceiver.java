package lunar.iscsi.transfer;

import lunar.iscsi.ProtocolException;
import lunar.iscsi.SerialNumbers;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.session.SequenceVerdict;

/**
 * The initiator's check of the data of one read (RFC 7143 section 11.7): every Data-In must be within the requested
 * range, in the negotiated order, and the total must match the response. Reusable.
 */
public final class DataInReceiver {
    private final BurstRules rules;
    private final Coverage coverage = new Coverage();

    private int expectedBytes;
    private int nextDataSn;
    private int receivedBytes;
    private int burstBytes;
    private int nextOffset;

    /** Creates a receiver for the commands of one session. */
    public DataInReceiver(BurstRules rules) {
        this.rules = rules;
    }

    /** Starts with a command that reads so many bytes: its Expected Data Transfer Length. */
    public void begin(int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException(bytes + " bytes");
        }
        expectedBytes = bytes;
        nextDataSn = 0;
        receivedBytes = 0;
        burstBytes = 0;
        nextOffset = 0;
        coverage.clear();
    }

    /**
     * Checks the header of a Data-In, before its data digest; changes nothing. Data of one that is
     * {@link SequenceVerdict#IN_ORDER} is in {@code [0, expectedBytes)} and may be stored; then call {@link #take}.
     */
    public SequenceVerdict judge(int dataSn, int bufferOffset, int length)
            throws ProtocolException {
        var verdict = SequenceVerdict.of(nextDataSn, dataSn);
        if (verdict != SequenceVerdict.IN_ORDER) {
            return verdict;
        }
        if (length < 0 || bufferOffset < 0 || bufferOffset > expectedBytes - length) {
            throw new ProtocolException("Data-In of " + length + " bytes at "
                    + Integer.toUnsignedString(bufferOffset) + " of a command of " + expectedBytes
                    + " bytes (RFC 7143 section 11.7.5)");
        }
        return verdict;
    }

    /**
     * Counts a Data-In that was judged to be in order, after its data have arrived intact.
     *
     * @param isFinal the F bit: the last of its sequence
     */
    public void take(int bufferOffset, int length, boolean isFinal) throws ProtocolException {
        // A sequence longer than MaxBurstLength (section 13.13) is let pass: it stays within the command, and tgtd
        // sends a whole command as one.
        checkOrder(bufferOffset, length, isFinal);
        nextDataSn++;
        receivedBytes += length;
        burstBytes = isFinal ? 0 : burstBytes + length;
    }

    /** Counts an R2T: those of a bidirectional command share the numbers of its Data-In (section 11.7.5). */
    public void numbered(int r2tSn) {
        if (!SerialNumbers.lessThan(r2tSn, nextDataSn)) {
            nextDataSn = r2tSn + 1;
        }
    }

    /** Judges a Data-In and takes it, if it is in order. */
    public SequenceVerdict accept(int dataSn, int bufferOffset, int length, boolean isFinal)
            throws ProtocolException {
        var verdict = judge(dataSn, bufferOffset, length);
        if (verdict == SequenceVerdict.IN_ORDER) {
            take(bufferOffset, length, isFinal);
        }
        return verdict;
    }

    /**
     * Checks the end of a command with status GOOD, from a SCSI Response or the last Data-In.
     *
     * @param expDataSn ExpDataSN of the response; for a status in a Data-In give {@link #expDataSn}. A lower value than
     *        the received number is tolerated, because some targets leave the field 0
     * @return GAP if Data-In are missing, else IN_ORDER
     */
    public SequenceVerdict finish(int expDataSn, Residual residual) throws ProtocolException {
        if (SerialNumbers.lessThan(nextDataSn, expDataSn)) {
            return SequenceVerdict.GAP;
        }
        long promised = residual.kind() == Residual.Kind.UNDERFLOW
                ? expectedBytes - Integer.toUnsignedLong(residual.bytes())
                : expectedBytes;
        if (promised != receivedBytes) {
            throw new ProtocolException(receivedBytes + " bytes received of " + expectedBytes
                    + ", the residual is " + residual
                    + " (RFC 7143 section 11.4.5)");
        }
        return SequenceVerdict.IN_ORDER;
    }

    /**
     * Counts the data that a transport has placed without Data-In: the expected length minus the residual.
     *
     * @param residual what the SCSI Response reports of data-in
     */
    public void placed(Residual residual) {
        long missing = residual.kind() == Residual.Kind.UNDERFLOW
                ? Integer.toUnsignedLong(residual.bytes())
                : 0;
        receivedBytes = (int) Math.max(0, expectedBytes - missing);
    }

    /** The command continues by another connection, where the target cuts what is left into new sequences. */
    public void resume() {
        burstBytes = 0;
    }

    /** Bytes that have come. */
    public int receivedBytes() { return receivedBytes; }

    /** DataSN of the next Data-In: how many have come. */
    public int expDataSn() {
        return nextDataSn;
    }

    private void checkOrder(int bufferOffset, int length, boolean isFinal)
            throws ProtocolException {
        boolean pduInOrder = rules.dataPduInOrder();
        boolean sequenceInOrder = rules.dataSequenceInOrder();
        if (pduInOrder && (burstBytes > 0 || sequenceInOrder) && bufferOffset != nextOffset) {
            throw new ProtocolException("Data-In at " + bufferOffset + ", expected at "
                    + nextOffset + " (RFC 7143 sections 13.18 and 13.19)");
        }
        nextOffset = bufferOffset + length;
        if (pduInOrder && sequenceInOrder) {
            return;
        }
        var added = coverage.add(bufferOffset, length);
        if (added != DataOutResult.MORE) {
            throw new ProtocolException("Data-In at " + bufferOffset + ": " + added.rule());
        }
        if (isFinal && sequenceInOrder && !coverage.isPrefix(receivedBytes + length)) {
            throw new ProtocolException("a Data-In sequence ended at " + nextOffset
                    + " with missing data (RFC 7143 section 13.19)");
        }
    }
}
