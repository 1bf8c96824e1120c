package lunar.iscsi.session;

import java.util.HashSet;
import java.util.Set;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.SerialNumbers;

/**
 * The initiator's side of status numbering for one connection (RFC 7143 section 4.2.2.2): checks StatSN and returns the
 * ExpStatSN to send. At ErrorRecoveryLevel 0 {@link #accept} checks the order; at higher levels {@link #note} detects
 * missing statuses and {@link #take} counts received ones, in any order.
 */
public final class StatusReceiver {
    /** Most numbers that one PDU may be ahead: more than there can be tasks. */
    private static final int MAX_GAP = 1 << 16;

    /** Maximum number of statuses received after a missing one; a target keeps them meanwhile, too. */
    static final int MAX_EARLY = 1 << 18;

    private int expStatSn;
    private int nextStatSn;
    private final Set<Integer> early = new HashSet<>();

    /** Starts after the PDU that set the StatSN: the first Login Response. */
    public StatusReceiver(int firstStatSn) {
        expStatSn = firstStatSn + 1;
        nextStatSn = expStatSn;
    }

    /** Judges a PDU with its own StatSN: every response, Data-In with S, Async, Reject, and NOP-In with an answer. */
    public SequenceVerdict accept(int statSn) {
        var verdict = SequenceVerdict.of(expStatSn, statSn);
        if (verdict == SequenceVerdict.IN_ORDER) {
            expStatSn++;
            nextStatSn = expStatSn;
        }
        return verdict;
    }

    /** Judges a PDU that carries the next StatSN without using it up: R2T, and NOP-In as a ping. Changes nothing. */
    public SequenceVerdict peek(int statSn) {
        return SequenceVerdict.of(expStatSn, statSn);
    }

    /** The first StatSN that has not been seen in any header. */
    public int nextStatSn() {
        return nextStatSn;
    }

    /**
     * Records the header of a PDU with its own StatSN, even if its data is damaged.
     *
     * @return number of missing numbers between the previous {@link #nextStatSn} and this one; each is reported once
     * @throws ProtocolException if it is further ahead than a correct target can be
     */
    public int note(int statSn) throws ProtocolException {
        if (SerialNumbers.lessThan(statSn, nextStatSn)) {
            return 0;
        }
        int missing = statSn - nextStatSn;
        if (missing > MAX_GAP) {
            throw new ProtocolException("StatSN " + Integer.toUnsignedString(statSn) + " came, "
                    + Integer.toUnsignedString(nextStatSn)
                    + " was expected (RFC 7143 section 4.2.2.2)");
        }
        if (early.size() >= MAX_EARLY) {
            throw new ProtocolException("StatSN " + Integer.toUnsignedString(expStatSn)
                    + " is missing, and " + MAX_EARLY + " after it have come (RFC 7143 section"
                    + " 4.2.2.2)");
        }
        nextStatSn = statSn + 1;
        return missing;
    }

    /**
     * Counts a status that is complete with its data. ExpStatSN advances up to the first gap: a status is not
     * acknowledged while its data is missing (RFC 7143 section 7.9).
     *
     * @return whether it is new
     */
    public boolean take(int statSn) {
        if (SerialNumbers.lessThan(statSn, expStatSn)
                || (!early.isEmpty() && early.contains(statSn))) { // boxes a number only where it must
            return false;
        }
        if (statSn != expStatSn) {
            early.add(statSn);
            return true;
        }
        do {
            expStatSn++;
        } while (!early.isEmpty() && early.remove(expStatSn));
        return true;
    }

    /** ExpStatSN for the next PDU to the target. */
    public int expStatSn() { return expStatSn; }
}
