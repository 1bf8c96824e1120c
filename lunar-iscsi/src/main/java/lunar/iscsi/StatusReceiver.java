package lunar.iscsi;

/**
 * The initiator's side of status numbering for one connection (RFC 7143 section 4.2.2.2): checks StatSN and
 * gives the ExpStatSN to send.
 */
public final class StatusReceiver {
    private int expStatSn;

    /** Starts after a PDU whose StatSN set the count: the first Login Response. */
    public StatusReceiver(int firstStatSn) {
        expStatSn = firstStatSn + 1;
    }

    /** Judges a PDU whose StatSN counts: every response, Data-In with S, Async, Reject, and NOP-In with an answer. */
    public SequenceVerdict accept(int statSn) {
        var verdict = SequenceVerdict.of(expStatSn, statSn);
        if (verdict == SequenceVerdict.IN_ORDER) {
            expStatSn++;
        }
        return verdict;
    }

    /** Judges a PDU that carries the next StatSN without using it up: R2T, and NOP-In as a ping. Changes nothing. */
    public SequenceVerdict peek(int statSn) {
        return SequenceVerdict.of(expStatSn, statSn);
    }

    /** ExpStatSN for the next PDU to the target. */
    public int expStatSn() { return expStatSn; }
}
