package lunar.iscsi.transfer;

import lunar.iscsi.SerialNumbers;
import lunar.iscsi.pdu.Bhs;
import org.jspecify.annotations.Nullable;

/** A Data-Out sequence in progress: the unsolicited one, or the response to an R2T (RFC 7143 section 11.7). */
final class Burst {
    /** Created on demand: PDUs in order are only counted. */
    private @Nullable Coverage covered;
    private boolean open;
    private boolean pduInOrder;
    private boolean solicited;
    private int ttt;
    private int offset;
    private int length;
    private int nextDataSn;
    private int takenBytes;
    private int r2tSn;

    /** A PDU of it was lost: later ones are ignored, and the data is requested again. */
    private boolean damaged;

    /** Expects {@code count} bytes from {@code at}. */
    void open(int tag, int at, int count, boolean dataPduInOrder) {
        open = true;
        solicited = tag != Bhs.NO_TAG;
        ttt = tag;
        offset = at;
        length = count;
        pduInOrder = dataPduInOrder;
        nextDataSn = 0;
        takenBytes = 0;
        damaged = false;
        if (covered != null) {
            covered.clear();
        }
    }

    private Coverage coverage() {
        Coverage known = covered;
        if (known == null) {
            known = new Coverage();
            covered = known;
        }
        return known;
    }

    /** Sets the R2TSN of the R2T that this burst answers. */
    void r2tSn(int sn) { r2tSn = sn; }

    int r2tSn() { return r2tSn; }

    void damage() { damaged = true; }

    boolean isDamaged() { return damaged; }

    /** Whether a PDU of this number has come before. */
    boolean isOld(int dataSn) {
        return SerialNumbers.lessThan(dataSn, nextDataSn);
    }

    /** Offset in the command's data up to which nothing is missing. */
    int firstMissing() {
        return offset + (pduInOrder ? takenBytes : coverage().prefix());
    }

    int offset() { return offset; }

    int end() { return offset + length; }

    void close() {
        open = false;
        ttt = Bhs.NO_TAG;
    }

    boolean isOpen() { return open; }

    int ttt() { return ttt; }

    int length() { return length; }

    /** The first bytes came with the command itself and have no DataSN. */
    void skip(int count) {
        takenBytes = count;
        if (!pduInOrder) {
            coverage().add(0, count);
        }
    }

    DataOutResult take(int dataSn, int bufferOffset, int count, boolean isFinal) {
        if (dataSn != nextDataSn) {
            return DataOutResult.DATA_SN_GAP;
        }
        if (count < 0 || (count == 0 && !isFinal)) {
            return DataOutResult.EMPTY;
        }
        long at = (long) bufferOffset - offset;
        if (at < 0 || at + count > length) {
            // More unsolicited data than the first burst is a matter for the task alone (section 11.4.7.2).
            return !solicited && at >= 0 && at <= length
                    ? DataOutResult.INCORRECT_AMOUNT
                    : DataOutResult.OUT_OF_BOUNDS;
        }
        if (pduInOrder) {
            if (at != takenBytes) {
                return DataOutResult.OFFSET_OUT_OF_ORDER;
            }
        } else if (count > 0) {
            var added = coverage().add((int) at, count);
            if (added != DataOutResult.MORE) {
                return added;
            }
        }
        nextDataSn++;
        takenBytes += count;
        return checkFinal(isFinal);
    }

    private DataOutResult checkFinal(boolean isFinal) {
        boolean full = takenBytes == length;
        if (!isFinal) {
            return full ? DataOutResult.INCORRECT_AMOUNT : DataOutResult.MORE;
        }
        if (full) {
            return DataOutResult.SEQUENCE_DONE;
        }
        // An unsolicited sequence may stop short, the rest is asked for by R2T, but it may have no holes.
        boolean holes = !pduInOrder && !coverage().isPrefix(takenBytes);
        return solicited || holes ? DataOutResult.INCORRECT_AMOUNT : DataOutResult.SEQUENCE_DONE;
    }
}
