package lunar.iscsi.session;

import java.util.HashSet;
import java.util.Set;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.SerialNumbers;

/**
 * The initiator's side of status numbering for one connection (RFC 7143 section 4.2.2.2): checks StatSN and
 * gives the ExpStatSN to send. Without recovery {@link #accept} judges; from ErrorRecoveryLevel 1 on {@link #note}
 * finds what is missing and {@link #take} counts what has come, in whatever order.
 */
public final class StatusReceiver {
    /** Most numbers that one PDU may be ahead: more than there can be tasks. */
    private static final int MAX_GAP = 1 << 16;

    /** Most statuses that are kept in mind while one before them is missing: a target keeps them, too, meanwhile. */
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
     * Notes the header of a PDU that has a StatSN of its own, whether its data are good or not.
     *
     * @return how many numbers are missing between {@link #nextStatSn} before the call and this one; each is told once
     * @throws ProtocolException if it is further ahead than any target can be
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
     * Counts a status that has come with all that belongs to it. ExpStatSN moves as far as there is no gap: a status is
     * not acknowledged while its data are missing (RFC 7143 section 7.9).
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
