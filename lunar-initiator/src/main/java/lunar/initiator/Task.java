package lunar.initiator;

import java.util.concurrent.CompletableFuture;
import lunar.block.StorageException;

/**
 * An {@link Exchange} in progress. Thread-safe; occupies no thread.
 *
 * @param <R> type of the result
 */
public interface Task<R> {
    /** State of a task. */
    enum State {
        /** In the queue: for a slot, the command window, or a connection. */
        WAITING,
        /** At the target. */
        SENT,
        /** At the target, which is to abort it, or behind a lost connection. */
        ENDING,
        /** Ended in some way. */
        DONE
    }

    /** Returns the exchange. */
    Exchange<R> exchange();

    /** Returns the current state. */
    State state();

    /**
     * Waits for the end, at most until the timeout. An interrupt does not end the wait, because buffers may be in use
     * until then; the thread's interrupt status is kept.
     *
     * @throws StorageException if the task did not complete: timeout, cancelled, session lost
     */
    R await() throws StorageException;

    /** Returns a new future, completed on the event loop's thread; it fails with {@link StorageException}. */
    CompletableFuture<R> future();

    /**
     * Cancels the task: removes it from the queue, or makes the target abort it. It then ends with
     * {@link lunar.block.AbortedException}. Does not block.
     *
     * @return completes when it is no longer at the target: with true if it was aborted, false if it had ended or if
     *        the target does not abort it
     */
    CompletableFuture<Boolean> cancel();
}
