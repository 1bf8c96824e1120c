package lunar.initiator.internal.retry;

import java.util.function.Supplier;
import lunar.block.AbortedException;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;

/** Sends a command by blocking calls and retries it as {@link RetryPolicy} decides. */
public final class RetriedCall {
    /** Sends the command once. */
    @FunctionalInterface
    public interface Attempt {
        ScsiResult send() throws StorageException;
    }

    private RetriedCall() {}

    /**
     * Sends a command until it succeeds or must not be retried.
     *
     * @param idempotent whether it may be executed twice
     * @param timeMs total time of its pauses; 0 to retry only unit attentions
     * @param what the command and its destination, for the message
     * @return the last result, of any status
     * @throws AbortedException if the thread is interrupted in a pause; the interrupt status is kept
     */
    public static ScsiResult send(Attempt attempt, boolean idempotent, long timeMs,
            Supplier<String> what) throws StorageException {
        var retries = new RetryPolicy();
        long leftMs = timeMs;
        while (true) {
            ScsiResult result = attempt.send();
            long pauseMs = retries.pauseMs(result.status(), result.senseData(), idempotent,
                    leftMs);
            if (pauseMs == RetryPolicy.NEVER) {
                return result;
            }
            if (pauseMs > 0) {
                pause(pauseMs, what.get() + ": status " + result.status());
                leftMs -= pauseMs;
            }
        }
    }

    /**
     * Sleeps.
     *
     * @throws AbortedException if the thread is interrupted; the interrupt status is kept
     */
    public static void pause(long pauseMs, String what) throws AbortedException {
        try {
            Thread.sleep(pauseMs);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new AbortedException(what + ": interrupted while waiting");
        }
    }
}
