package lunar.target.internal.task;

import lunar.iscsi.pdu.Residual;
import lunar.iscsi.transfer.BurstRules;
import lunar.iscsi.transfer.DataOutResult;
import lunar.iscsi.transfer.WriteTransfer;
import lunar.scsi.Sense;
import lunar.scsi.Status;
import org.jspecify.annotations.Nullable;

/**
 * Receives the data-out of a task: determines the needed length and when it is complete. Holds an error found before
 * execution. Confined to the event loop's thread.
 */
final class DataOutPhase {
    private final BurstRules rules;
    private final boolean recovers;
    private int expectedBytes;
    private int wantedBytes;
    private @Nullable Sense refusal;
    private @Nullable Status declined;

    /** Whether the task ends with its error immediately, without waiting for more data. */
    private boolean broken;
    private boolean askedAgain;
    private long heardMs;
    /** Null as long as there is no data-out: for a command that does not write, usually for good. */
    private @Nullable WriteTransfer transfer;
    /** The transfer of the last command that had one, for reuse. */
    private @Nullable WriteTransfer usedTransfer;

    /** @param recovers whether lost data is requested again: error recovery level 1 and above */
    DataOutPhase(BurstRules rules, boolean recovers) {
        this.rules = rules;
        this.recovers = recovers;
    }

    /**
     * Starts over for another command.
     *
     * @param expected Expected Data Transfer Length of data-out; negative if above 2 GiB
     */
    void clear(int expected, long nowMs) {
        expectedBytes = expected;
        heardMs = nowMs;
        wantedBytes = 0;
        refusal = null;
        declined = null;
        broken = false;
        askedAgain = false;
        transfer = null;
    }

    // --- errors before execution ---

    /** Sets how many bytes the CDB needs. */
    void want(long bytes) {
        wantedBytes = (int) Math.min(bytes, Integer.MAX_VALUE);
    }

    /** Ends the command with sense data after its unsolicited data has arrived. */
    void refuse(Sense why) {
        refusal = why;
    }

    /** Ends the command with a status after its unsolicited data has arrived. */
    void decline(Status with) {
        declined = with;
    }

    /** Ends the command with sense data immediately: a data transfer rule is broken, or data is missing. */
    void giveUp(Sense why) {
        refusal = why;
        broken = true;
    }

    @Nullable
    Sense refusal() { return refusal; }

    @Nullable
    Status declined() { return declined; }

    /** Whether the data are wanted, so that memory for them is needed. */
    boolean isWanted() {
        return refusal == null && declined == null;
    }

    // --- the data ---

    /** Starts with the data of the command PDU; the data of a command that is not to be executed are drained. */
    DataOutResult begin(int immediateBytes, boolean isFinal) {
        return newTransfer().begin(expectedBytes < 0 ? Integer.MAX_VALUE : expectedBytes,
                isWanted() ? wantedBytes : 0, immediateBytes, isFinal);
    }

    private WriteTransfer newTransfer() {
        WriteTransfer mine = usedTransfer;
        if (mine == null) {
            mine = new WriteTransfer(rules, recovers);
            usedTransfer = mine;
        }
        transfer = mine;
        return mine;
    }

    /** Returns the transfer; an empty one for a command without data-out, for which data may still come. */
    WriteTransfer transfer() {
        WriteTransfer known = transfer;
        if (known == null) {
            known = newTransfer();
            known.begin(0, 0, 0, true);
        }
        return known;
    }

    /** Whether no more data is expected. */
    boolean isOver() {
        return broken || transfer == null || transfer.isComplete();
    }

    /** Returns the number of bytes to be written. */
    int neededBytes() {
        return transfer == null ? 0 : transfer.neededBytes();
    }

    /** Returns by how much the CDB needs more than the initiator has declared. */
    Residual overflow() {
        return wantedBytes > expectedBytes
                ? Residual.of(expectedBytes, wantedBytes)
                : Residual.NONE;
    }

    // --- missing data ---

    /** Records that data has arrived. */
    void heard(long nowMs) { heardMs = nowMs; }

    /** Returns when data last arrived. */
    long heardMs() { return heardMs; }

    /** Continues on another connection, where the data may be requested again. */
    void reassigned(long nowMs) {
        heardMs = nowMs;
        askedAgain = false;
    }

    /** Plans to request missing data once more; returns false if that was done before. */
    boolean askAgain() {
        if (askedAgain) {
            return false;
        }
        askedAgain = true;
        transfer().interrupted();
        return true;
    }
}
