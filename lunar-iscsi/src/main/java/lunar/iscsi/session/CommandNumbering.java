package lunar.iscsi.session;

import lunar.iscsi.SerialNumbers;

/**
 * The initiator's side of command numbering for one session (RFC 7143 section 4.2.2.1): assigns CmdSN up to MaxCmdSN,
 * and tracks ExpCmdSN and MaxCmdSN of the target's PDUs, in any order of arrival.
 */
public final class CommandNumbering {
    private int cmdSn;
    private int expCmdSn;
    private int maxCmdSn;

    /**
     * The numbering of a new session. Until the first {@link #update} no command may be sent.
     *
     * @param firstCmdSn the CmdSN that the Login Requests carry; login does not use it up
     */
    public CommandNumbering(int firstCmdSn) {
        cmdSn = firstCmdSn;
        expCmdSn = firstCmdSn;
        maxCmdSn = firstCmdSn - 1;
    }

    /** Whether a non-immediate command may be sent. */
    public boolean canSend() {
        return !SerialNumbers.lessThan(maxCmdSn, cmdSn);
    }

    /** How many non-immediate commands may be sent now. */
    public int freeCount() {
        return canSend() ? Math.min(maxCmdSn - cmdSn, Integer.MAX_VALUE - 1) + 1 : 0;
    }

    /** The CmdSN of a non-immediate command, which uses it up. Call only if {@link #canSend}. */
    public int next() {
        if (!canSend()) {
            throw new IllegalStateException("the command window is closed: " + this);
        }
        return cmdSn++;
    }

    /** The CmdSN of an immediate command, which does not use it up. */
    public int current() {
        return cmdSn;
    }

    /**
     * Processes ExpCmdSN and MaxCmdSN of a PDU from the target. Both values are ignored if MaxCmdSN is before ExpCmdSN
     * - 1; each is ignored if it is not newer, because PDUs of several connections overtake each other. An ExpCmdSN
     * that acknowledges commands never sent is ignored too.
     *
     * @return whether more commands may be sent than before
     */
    public boolean update(int newExpCmdSn, int newMaxCmdSn) {
        if (SerialNumbers.lessThan(newMaxCmdSn, newExpCmdSn - 1)) {
            return false;
        }
        if (SerialNumbers.lessThan(expCmdSn, newExpCmdSn)
                && !SerialNumbers.lessThan(cmdSn, newExpCmdSn)) {
            expCmdSn = newExpCmdSn;
        }
        if (SerialNumbers.lessThan(maxCmdSn, newMaxCmdSn)) {
            maxCmdSn = newMaxCmdSn;
            return true;
        }
        return false;
    }

    /** ExpCmdSN as the target last told: all before it have reached it. */
    public int expCmdSn() {
        return expCmdSn;
    }

    /** MaxCmdSN as the target last told. */
    public int maxCmdSn() { return maxCmdSn; }

    /** Commands sent and not acknowledged by ExpCmdSN. */
    public int unacknowledgedCount() {
        return cmdSn - expCmdSn;
    }

    /** Whether the target has acknowledged a command by ExpCmdSN. */
    public boolean isAcknowledged(int sentCmdSn) {
        return SerialNumbers.lessThan(sentCmdSn, expCmdSn);
    }

    @Override
    public String toString() {
        return "CmdSN " + Integer.toUnsignedString(cmdSn) + " ExpCmdSN "
                + Integer.toUnsignedString(expCmdSn) + " MaxCmdSN "
                + Integer.toUnsignedString(maxCmdSn);
    }
}
