package lunar.iscsi.session;

import java.util.Arrays;
import lunar.iscsi.SerialNumbers;

/**
 * The target's side of command numbering for one session: ExpCmdSN and MaxCmdSN (RFC 7143 section 4.2.2.1).
 *
 * <p>A command with CmdSN equal to ExpCmdSN is delivered; a later one within the window is held until its predecessors,
 * possibly on another connection, have arrived; all others are silently ignored, as the section requires. On
 * {@link Verdict#HOLD} the caller keeps the command by its CmdSN and, after each delivery, releases commands that are
 * due:
 *
 * <pre>{@code
 * switch (window.accept(cmdSn, immediate)) {
 *     case DELIVER -> {
 *         deliver(command);
 *         while (window.nextIsHeld()) {
 *             deliver(held.remove(window.releaseHeld()));
 *         }
 *     }
 *     case HOLD -> held.put(cmdSn, command);
 *     case IGNORE -> {}
 * }
 * }</pre>
 *
 * <p>The window is {@code limit} minus the commands delivered and not yet {@linkplain #finished finished}. MaxCmdSN
 * never decreases, so a smaller limit takes effect as commands finish. Immediate commands are not part of the window;
 * the caller bounds their number.
 */
public final class CommandWindow {
    /** Largest window: no more commands are ever held or in flight for one session. */
    public static final int MAX_LIMIT = 4096;

    /** Decisions about a command. */
    public enum Verdict {
        /** It is next, or immediate. */
        DELIVER,
        /** It is in the window, and one before it has not come yet. */
        HOLD,
        /** It is outside the window or has come before; the RFC has it dropped without an answer. */
        IGNORE
    }

    private final long[] heldBits = new long[MAX_LIMIT / Long.SIZE];
    private int heldCount;
    private int expCmdSn;
    private int maxCmdSn;
    private int limit;
    private int inFlightCount;

    /**
     * The window of a new session.
     *
     * @param firstCmdSn the CmdSN of the Login Request that began it; login does not use it up
     * @param limit commands in flight at most, 1 to {@link #MAX_LIMIT}
     */
    public CommandWindow(int firstCmdSn, int limit) {
        expCmdSn = firstCmdSn;
        maxCmdSn = firstCmdSn - 1;
        limit(limit);
    }

    /** Judges a command that has come on any of the session's connections. */
    public Verdict accept(int cmdSn, boolean immediate) {
        if (immediate) {
            return Verdict.DELIVER; // its CmdSN may lie anywhere (section 4.2.2.1)
        }
        if (!inWindow(cmdSn)) {
            return Verdict.IGNORE;
        }
        if (cmdSn == expCmdSn) {
            advance();
            return Verdict.DELIVER;
        }
        return hold(cmdSn) ? Verdict.HOLD : Verdict.IGNORE;
    }

    /** Whether the command at ExpCmdSN is one that was held. */
    public boolean nextIsHeld() {
        return isHeld(expCmdSn);
    }

    /** Counts the held command at ExpCmdSN as delivered and returns its CmdSN. */
    public int releaseHeld() {
        if (!nextIsHeld()) {
            throw new IllegalStateException("CmdSN " + expCmdSn + " is not held");
        }
        int cmdSn = expCmdSn;
        drop(cmdSn);
        advance();
        return cmdSn;
    }

    /**
     * Drops a held command of an ended connection: it was never acknowledged, so the initiator may retransmit it
     * (section 7.2.1). Does nothing if it is not held.
     */
    public void forget(int cmdSn) {
        if (isHeld(cmdSn)) {
            drop(cmdSn);
        }
    }

    /** Ends one delivered non-immediate command; the window opens by one. */
    public void finished() {
        if (inFlightCount == 0) {
            throw new IllegalStateException("no command is in flight");
        }
        inFlightCount--;
        open();
    }

    /** Sets how many commands may be in flight, 1 to {@link #MAX_LIMIT}. What was advertised stays valid. */
    public void limit(int commands) {
        if (commands < 1 || commands > MAX_LIMIT) {
            throw new IllegalArgumentException(
                    "command window must be 1 to " + MAX_LIMIT + ", not " + commands);
        }
        limit = commands;
        open();
    }

    /** ExpCmdSN for the next PDU to the initiator: all before it have been delivered. */
    public int expCmdSn() {
        return expCmdSn;
    }

    /** MaxCmdSN for the next PDU to the initiator. */
    public int maxCmdSn() { return maxCmdSn; }

    /** Non-immediate commands delivered and not finished. */
    public int inFlightCount() {
        return inFlightCount;
    }

    /** Commands that wait for one before them. */
    public int heldCount() { return heldCount; }

    private boolean inWindow(int cmdSn) {
        return SerialNumbers.lessOrEqual(expCmdSn, cmdSn)
                && SerialNumbers.lessOrEqual(cmdSn, maxCmdSn);
    }

    private void advance() {
        expCmdSn++;
        inFlightCount++;
        open();
    }

    private void open() {
        int max = expCmdSn - 1 + Math.max(0, limit - inFlightCount);
        if (SerialNumbers.lessThan(maxCmdSn, max)) {
            maxCmdSn = max;
        }
        assert maxCmdSn - expCmdSn + 1 <= MAX_LIMIT : this;
    }

    private boolean hold(int cmdSn) {
        if (isHeld(cmdSn)) {
            return false;
        }
        int slot = cmdSn & (MAX_LIMIT - 1);
        heldBits[slot / Long.SIZE] |= 1L << slot;
        heldCount++;
        return true;
    }

    private boolean isHeld(int cmdSn) {
        int slot = cmdSn & (MAX_LIMIT - 1);
        return inWindow(cmdSn)
                && (heldBits[slot / Long.SIZE] & 1L << slot) != 0;
    }

    private void drop(int cmdSn) {
        int slot = cmdSn & (MAX_LIMIT - 1);
        heldBits[slot / Long.SIZE] &= ~(1L << slot);
        heldCount--;
        assert heldCount > 0 || Arrays.stream(heldBits).allMatch(bits -> bits == 0);
    }

    @Override
    public String toString() {
        return "ExpCmdSN " + Integer.toUnsignedString(expCmdSn) + " MaxCmdSN "
                + Integer.toUnsignedString(maxCmdSn) + ", " + inFlightCount + " of " + limit
                + " in flight, " + heldCount + " held";
    }
}
