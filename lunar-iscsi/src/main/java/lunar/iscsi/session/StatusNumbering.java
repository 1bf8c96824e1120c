package lunar.iscsi.session;

import lunar.iscsi.ProtocolException;
import lunar.iscsi.SerialNumbers;

/**
 * The target's side of status numbering for one connection (RFC 7143 section 4.2.2.2): assigns StatSN to responses and
 * tracks ExpStatSN, by which the initiator acknowledges them.
 */
public final class StatusNumbering {
    private int statSn;
    private int expStatSn;

    /** The numbering of a new connection; any number will do for the first StatSN. */
    public StatusNumbering(int firstStatSn) {
        statSn = firstStatSn;
        expStatSn = firstStatSn;
    }

    /** The StatSN of a response, which uses it up. */
    public int next() { return statSn++; }

    /** The StatSN of a PDU that does not use it up: R2T, and a NOP-In that asks for no answer or is a ping. */
    public int current() {
        return statSn;
    }

    /**
     * Processes the ExpStatSN of a PDU. An older one is ignored; one ahead of what was sent is an error.
     *
     * @return how many responses it newly acknowledges
     */
    public int acknowledge(int newExpStatSn) throws ProtocolException {
        if (SerialNumbers.lessThan(statSn, newExpStatSn)) {
            throw new ProtocolException("ExpStatSN " + Integer.toUnsignedString(newExpStatSn)
                    + " acknowledges more than the StatSN " + Integer.toUnsignedString(statSn)
                    + " that comes next (RFC 7143 section 4.2.2.2)");
        }
        if (!SerialNumbers.lessThan(expStatSn, newExpStatSn)) {
            return 0;
        }
        int count = newExpStatSn - expStatSn;
        expStatSn = newExpStatSn;
        return count;
    }

    /** ExpStatSN as the initiator last told: all before it have been received. */
    public int expStatSn() {
        return expStatSn;
    }

    /** Responses sent and not acknowledged. */
    public int unacknowledgedCount() {
        return statSn - expStatSn;
    }
}
