package lunar.initiator.scsi;

import java.util.function.Supplier;
import lunar.block.AbortedException;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.initiator.internal.retry.RetriedCall;

/**
 * Retries of commands of other device types, as {@link ScsiUnit} retries its own: after a unit attention at once, after
 * BUSY or a full task set with pauses, after an abort by the target only if the command is idempotent.
 */
public final class CommandRetries {
    /** Sends a command once. */
    @FunctionalInterface
    public interface Attempt {
        /** Returns the result, of any status. */
        ScsiResult send() throws StorageException;
    }

    private CommandRetries() {}

    /**
     * Sends a command until it succeeds or must not be retried. A command without a result, such as one of a lost
     * session, is not retried.
     *
     * @param idempotent whether the command may be executed twice
     * @param timeMs total time of pauses
     * @param what the command and its destination, for messages
     * @return the last result, of any status
     * @throws AbortedException if the thread is interrupted in a pause; the interrupt status is kept
     */
    public static ScsiResult send(Attempt attempt, boolean idempotent, long timeMs,
            Supplier<String> what) throws StorageException {
        return RetriedCall.send(attempt::send, idempotent, timeMs, what);
    }
}
