package lunar.iscsi.transfer;

import java.util.ArrayDeque;
import java.util.Objects;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.Residual;
import org.jspecify.annotations.Nullable;

/**
 * The target's view of the data of one write (RFC 7143 sections 4.2.5.2, 11.7 and 11.8): accepts immediate and
 * unsolicited data, requests the rest by R2T, and checks each Data-Out. Reusable: {@link #begin} starts over, and a
 * transfer that has been used before allocates nothing for an equal one.
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
 * <p>Accepted data is always in {@code [0, expectedBytes)}. If the CDB needs less, R2Ts request only
 * {@link #neededBytes}, but unsolicited data may exceed it: store the part below it and drop the rest. Lengths and
 * offsets are the wire values as {@code int}; negative values are above 2 GiB and rejected.
 *
 * <p>From error recovery level 1 on, a sequence with a missing PDU does not fail: later PDUs of it are ignored, and at
 * its end the part from the first missing byte on is requested again by a recovery R2T (RFC 7143 sections 7.8 and 7.9).
 */
public final class WriteTransfer {
    /** Maximum number of outstanding R2Ts of one task, regardless of negotiation. */
    public static final int MAX_R2T = 16;

    private static final int NO_TAG = Bhs.NO_TAG;
    private static final @Nullable Burst[] NONE = {};

    private final BurstRules rules;
    private final Burst unsolicited = new Burst();
    private final int maxR2ts;
    /** Created on demand: most writes need no R2T. */
    private @Nullable Burst[] solicited = NONE;

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
    private int r2tTag;

    private final boolean recovers;
    /** Parts to be asked for again: start, end, start, end. */
    private final ArrayDeque<Integer> again;
    /** Data was requested again, so sequences may arrive in another order, and late ones with stale tags. */
    private boolean disturbed;

    /** Creates a transfer for the commands of one session at error recovery level 0. */
    public WriteTransfer(BurstRules rules) {
        this(rules, false);
    }

    /**
     * For the commands of one session.
     *
     * @param recovers whether lost data are asked for again: error recovery level 1 and above
     */
    public WriteTransfer(BurstRules rules, boolean recovers) {
        this.rules = rules;
        this.recovers = recovers;
        maxR2ts = Math.min(rules.maxOutstandingR2t(), MAX_R2T);
        again = new ArrayDeque<>(recovers ? 4 : 0);
    }

    /**
     * Starts with a command PDU.
     *
     * @param expected Expected Data Transfer Length, not negative: refuse longer commands before
     * @param wanted bytes the CDB writes, not negative; 0 for a command that has failed, to drain its data
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
        again.clear();
        disturbed = false;
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
        return failure.accepted() && !unsolicited.isOpen()
                && (askedBytes < neededBytes() || !again.isEmpty())
                && outstandingCount < maxR2ts;
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
        r2tTag = ttt;
        if (again.isEmpty()) {
            r2tOffset = askedBytes;
            r2tLength = Math.min(rules.maxBurstBytes(), neededBytes() - askedBytes);
            askedBytes += r2tLength;
        } else { // a part of an R2T, so never longer than a burst
            r2tOffset = again.remove();
            r2tLength = again.remove() - r2tOffset;
        }
        Burst burst = nextBurst();
        burst.open(ttt, r2tOffset, r2tLength, rules.dataPduInOrder());
        burst.r2tSn(r2tSn);
        assert r2tLength > 0 && askedBytes <= expectedBytes : this;
    }

    /** Adds a burst to the outstanding ones. */
    private Burst nextBurst() {
        if (solicited.length == 0) {
            solicited = new Burst[maxR2ts];
        }
        Burst burst = solicited[outstandingCount];
        if (burst == null) {
            burst = new Burst();
            solicited[outstandingCount] = burst;
        }
        outstandingCount++;
        return burst;
    }

    /** Returns an outstanding burst. */
    private Burst burst(int at) {
        return Objects.requireNonNull(solicited[at]);
    }

    /**
     * Finds an outstanding R2T, to retransmit it unchanged; its fields are available like those of a planned one, its
     * tag in {@link #r2tTag}. Returns false if it was answered or never sent.
     */
    public boolean findR2t(int sn) {
        for (int i = 0; i < outstandingCount; i++) {
            if (burst(i).r2tSn() == sn) {
                r2tSn = sn;
                r2tTag = burst(i).ttt();
                r2tOffset = burst(i).offset();
                r2tLength = burst(i).length();
                return true;
            }
        }
        return false;
    }

    /** Target Transfer Tag of the R2T that was planned or found last. */
    public int r2tTag() {
        return r2tTag;
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
            if (letPass(unsolicited, dataSn)) {
                return isFinal ? askAgain(unsolicited) : DataOutResult.MORE;
            }
            var result = unsolicited.take(dataSn, bufferOffset, length, isFinal);
            if (!result.accepted()) {
                return damaged(unsolicited, result, isFinal);
            }
            receivedBytes += length;
            return isFinal ? endUnsolicited() : DataOutResult.MORE;
        }
        int at = find(ttt);
        if (at < 0) {
            return disturbed ? DataOutResult.MORE : fail(DataOutResult.UNKNOWN_TTT);
        }
        if (at > 0 && rules.dataSequenceInOrder() && !disturbed) {
            return fail(DataOutResult.SEQUENCE_OUT_OF_ORDER);
        }
        Burst burst = burst(at);
        if (letPass(burst, dataSn)) {
            return isFinal ? askAgain(burst) : DataOutResult.MORE;
        }
        var result = burst.take(dataSn, bufferOffset, length, isFinal);
        if (!result.accepted()) {
            return damaged(burst, result, isFinal);
        }
        receivedBytes += length;
        if (!isFinal) {
            return DataOutResult.MORE;
        }
        remove(at);
        return ended();
    }

    /**
     * Records a Data-Out with a digest error. Used only if lost data can be requested again.
     *
     * @param isFinal its F bit
     */
    public DataOutResult lost(int ttt, boolean isFinal) {
        int at = find(ttt);
        if (!failure.accepted() || (ttt == NO_TAG ? !unsolicited.isOpen() : at < 0)) {
            return failure;
        }
        Burst burst = ttt == NO_TAG ? unsolicited : burst(at);
        burst.damage();
        return isFinal ? askAgain(burst) : DataOutResult.MORE;
    }

    /**
     * Requests outstanding data again that will not arrive, because the connection was lost or the sequence reception
     * timeout (RFC 7143 section 7.5) has expired.
     *
     * @return whether an R2T is due
     */
    public boolean interrupted() {
        if (unsolicited.isOpen()) {
            askAgain(unsolicited);
        }
        while (outstandingCount > 0) {
            askAgain(burst(0));
        }
        return wantsR2t();
    }

    /** Ignores a PDU of a sequence that is requested again, or a duplicate. */
    private boolean letPass(Burst burst, int dataSn) {
        return recovers && (burst.isDamaged() || burst.isOld(dataSn));
    }

    private DataOutResult damaged(Burst burst, DataOutResult why, boolean isFinal) {
        boolean lost = why == DataOutResult.DATA_SN_GAP
                || (why == DataOutResult.INCORRECT_AMOUNT && isFinal
                        && burst.firstMissing() < burst.end());
        if (!recovers || !lost) {
            return fail(why);
        }
        burst.damage();
        return isFinal ? askAgain(burst) : DataOutResult.MORE;
    }

    /** A damaged sequence is over: the rest of it, or of the first burst, will be asked for. */
    private DataOutResult askAgain(Burst burst) {
        if (!burst.isDamaged() && burst.firstMissing() == burst.end()) {
            return DataOutResult.MORE; // an old PDU once more
        }
        disturbed = true;
        int from = burst.firstMissing();
        int end = burst.end();
        if (burst.equals(unsolicited)) {
            receivedBytes = from;
            return endUnsolicited();
        }
        remove(find(burst.ttt()));
        again.add(from);
        again.add(end);
        return DataOutResult.SEQUENCE_DONE;
    }

    /** Whether all expected data has arrived. */
    public boolean isComplete() {
        return failure.accepted() && !unsolicited.isOpen() && outstandingCount == 0
                && again.isEmpty() && askedBytes >= neededBytes();
    }

    /** Returns the number of bytes to be written: the length of the CDB or the expected length, whichever is less. */
    public int neededBytes() {
        return Math.min(wantedBytes, expectedBytes);
    }

    /** Returns the number of bytes accepted, including unsolicited ones beyond {@link #neededBytes}. */
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
        // The rest of the first burst, if it was not filled, is requested like all other data: askedBytes continues
        // after the received data. Burst has checked that out-of-order PDUs left no holes.
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
            if (burst(i).ttt() == ttt) {
                return i;
            }
        }
        return -1;
    }

    private void remove(int at) {
        Burst done = burst(at);
        done.close();
        outstandingCount--;
        System.arraycopy(solicited, at + 1, solicited, at, outstandingCount - at);
        solicited[outstandingCount] = done;
    }

    @Override
    public String toString() {
        return receivedBytes + " of " + neededBytes() + " bytes, requested up to " + askedBytes
                + ", "
                + outstandingCount + " R2T outstanding"
                + (failure.accepted() ? "" : ", " + failure);
    }
}
