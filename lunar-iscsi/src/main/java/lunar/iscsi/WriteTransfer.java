package lunar.iscsi;

/**
 * The target's view of the data of one write (RFC 7143 sections 4.2.5.2, 11.7 and 11.8): takes immediate and
 * unsolicited data, asks for the rest by R2T, and checks each Data-Out. Reusable: {@link #begin} starts over.
 *
 * <pre>{@code
 * var result = transfer.begin(expectedBytes, wantedBytes, immediateBytes, isFinal);
 * while (result.accepted()) {
 *     while (transfer.wantsR2t()) {
 *         transfer.planR2t(newTag());   // then send r2tSn(), r2tOffset(), r2tLength()
 *     }
 *     if (transfer.isComplete()) break;
 *     // for the next Data-Out of the task
 *     result = transfer.dataOut(ttt, dataSn, bufferOffset, length, isFinal);
 * }
 * }</pre>
 *
 * <p>Accepted data always lie in {@code [0, expectedBytes)}. A CDB that wants fewer gets R2Ts for
 * {@link #neededBytes} only, but unsolicited data may go beyond: store what is below it and drop the rest. Lengths
 * and offsets are those of the wire as {@code int}; what is negative there is beyond 2 GiB and refused.
 */
public final class WriteTransfer {
    /** Most R2Ts of one task outstanding at once, whatever was negotiated. */
    public static final int MAX_R2T = 16;

    private static final int NO_TAG = Bhs.NO_TAG;

    private final BurstRules rules;
    private final Burst unsolicited = new Burst();
    private final Burst[] solicited;

    private int expectedBytes;
    private int wantedBytes;
    private int receivedBytes;
    private int askedBytes;
    private int nextR2tSn;
    private int outstandingCount;
    private DataOutResult failure = DataOutResult.MORE; // MORE as long as there is none
    private int r2tSn;
    private int r2tOffset;
    private int r2tLength;

    /** For the commands of one session. */
    public WriteTransfer(BurstRules rules) {
        this.rules = rules;
        solicited = new Burst[Math.min(rules.maxOutstandingR2t(), MAX_R2T)];
        for (int i = 0; i < solicited.length; i++) {
            solicited[i] = new Burst();
        }
    }

    /**
     * Starts with a command PDU.
     *
     * @param expected Expected Data Transfer Length, not negative: refuse longer commands before
     * @param wanted bytes the CDB writes, not negative; 0 for a command that has failed and whose data are to be
     *        drained
     * @param immediateBytes length of the command's data segment
     * @param isFinal the F bit of the command: no unsolicited Data-Out follow
     */
    public DataOutResult begin(int expected, int wanted, int immediateBytes, boolean isFinal) {
        if (expected < 0 || wanted < 0 || immediateBytes < 0) {
            throw new IllegalArgumentException(expected + ", " + wanted + ", " + immediateBytes);
        }
        expectedBytes = expected;
        wantedBytes = wanted;
        receivedBytes = 0;
        askedBytes = 0;
        nextR2tSn = 0;
        outstandingCount = 0;
        failure = DataOutResult.MORE;
        for (Burst burst : solicited) {
            burst.close();
        }
        unsolicited.open(NO_TAG, 0, Math.min(rules.firstBurstBytes(), expected),
                rules.dataPduInOrder());
        if ((immediateBytes > 0 && !rules.immediateData()) || (!isFinal && rules.initialR2t())) {
            return fail(DataOutResult.UNEXPECTED_UNSOLICITED);
        }
        if (immediateBytes > unsolicited.length()) {
            return fail(DataOutResult.INCORRECT_AMOUNT);
        }
        unsolicited.skip(immediateBytes);
        receivedBytes = immediateBytes;
        return isFinal ? endUnsolicited() : DataOutResult.MORE;
    }

    /** Whether an R2T is due now. */
    public boolean wantsR2t() {
        return failure.accepted() && !unsolicited.isOpen() && askedBytes < neededBytes()
                && outstandingCount < solicited.length;
    }

    /**
     * Plans the R2T that is due, found in {@link #r2tSn}, {@link #r2tOffset} and {@link #r2tLength}.
     *
     * @param ttt the tag that the answering Data-Out will carry; not {@link Bhs#NO_TAG}, and of no other R2T
     */
    public void planR2t(int ttt) {
        if (!wantsR2t() || ttt == NO_TAG || find(ttt) >= 0) {
            throw new IllegalStateException("no R2T is due, or tag " + ttt + " is not free");
        }
        r2tSn = nextR2tSn++;
        r2tOffset = askedBytes;
        r2tLength = Math.min(rules.maxBurstBytes(), neededBytes() - askedBytes);
        askedBytes += r2tLength;
        solicited[outstandingCount++].open(ttt, r2tOffset, r2tLength, rules.dataPduInOrder());
        assert r2tLength > 0 && askedBytes <= expectedBytes : this;
    }

    /** R2TSN of the planned R2T: 0, 1, 2 and so on within the command. */
    public int r2tSn() {
        return r2tSn;
    }

    /** Buffer Offset of the planned R2T. */
    public int r2tOffset() { return r2tOffset; }

    /** Desired Data Transfer Length of the planned R2T. */
    public int r2tLength() {
        return r2tLength;
    }

    /**
     * Judges a Data-Out of this task. After a failure every further one fails the same way.
     *
     * @param ttt Target Transfer Tag; {@link Bhs#NO_TAG} marks unsolicited data
     * @param length length of the data segment
     * @param isFinal the F bit: the last of its sequence
     */
    public DataOutResult dataOut(int ttt, int dataSn, int bufferOffset, int length,
            boolean isFinal) {
        if (!failure.accepted()) {
            return failure;
        }
        if (ttt == NO_TAG) {
            if (!unsolicited.isOpen()) {
                return fail(DataOutResult.UNEXPECTED_UNSOLICITED);
            }
            var result = unsolicited.take(dataSn, bufferOffset, length, isFinal);
            if (!result.accepted()) {
                return fail(result);
            }
            receivedBytes += length;
            return isFinal ? endUnsolicited() : DataOutResult.MORE;
        }
        int at = find(ttt);
        if (at < 0) {
            return fail(DataOutResult.UNKNOWN_TTT);
        }
        if (at > 0 && rules.dataSequenceInOrder()) {
            return fail(DataOutResult.SEQUENCE_OUT_OF_ORDER);
        }
        var result = solicited[at].take(dataSn, bufferOffset, length, isFinal);
        if (!result.accepted()) {
            return fail(result);
        }
        receivedBytes += length;
        if (!isFinal) {
            return DataOutResult.MORE;
        }
        remove(at);
        return ended();
    }

    /** Whether everything that will come has come. */
    public boolean isComplete() {
        return failure.accepted() && !unsolicited.isOpen() && outstandingCount == 0
                && askedBytes >= neededBytes();
    }

    /** The lesser of what the CDB wants and what the initiator expects: how many bytes are to be written. */
    public int neededBytes() {
        return Math.min(wantedBytes, expectedBytes);
    }

    /** Bytes taken, unsolicited ones beyond {@link #neededBytes} included. */
    public int receivedBytes() {
        return receivedBytes;
    }

    /** R2Ts sent and not fully answered. */
    public int outstandingR2tCount() {
        return outstandingCount;
    }

    /** Number of R2Ts planned, which the SCSI Response carries as ExpDataSN (section 11.4.8). */
    public int expDataSn() {
        return nextR2tSn;
    }

    /** The residual that the response carries. */
    public Residual residual() {
        return Residual.of(expectedBytes, wantedBytes);
    }

    private DataOutResult endUnsolicited() {
        // The rest of the first burst, if it was not filled, is asked for like all else: askedBytes goes on from
        // what has come. Out-of-order PDUs may leave no holes, which Burst has checked.
        askedBytes = receivedBytes;
        unsolicited.close();
        return ended();
    }

    private DataOutResult ended() {
        return isComplete() ? DataOutResult.COMPLETE : DataOutResult.SEQUENCE_DONE;
    }

    private DataOutResult fail(DataOutResult result) {
        failure = result;
        return result;
    }

    private int find(int ttt) {
        for (int i = 0; i < outstandingCount; i++) {
            if (solicited[i].ttt() == ttt) {
                return i;
            }
        }
        return -1;
    }

    private void remove(int at) {
        Burst done = solicited[at];
        done.close();
        outstandingCount--;
        System.arraycopy(solicited, at + 1, solicited, at, outstandingCount - at);
        solicited[outstandingCount] = done;
    }

    @Override
    public String toString() {
        return receivedBytes + " of " + neededBytes() + " bytes, asked to " + askedBytes + ", "
                + outstandingCount + " R2T outstanding"
                + (failure.accepted() ? "" : ", " + failure);
    }
}
