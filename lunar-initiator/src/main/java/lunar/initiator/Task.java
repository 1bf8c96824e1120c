package lunar.initiator;

import java.util.concurrent.CompletableFuture;
import lunar.block.StorageException;

/**
 * An {@link Exchange} on its way. Any thread may use it; no thread is kept by it.
 *
 * @param <R> what it comes to
 */
public interface Task<R> {
    /** Where a task is. */
    enum State {
        /** In the queue: for a slot, the command window, or a connection. */
        WAITING,
        /** At the target. */
        SENT,
        /** At the target, which is to abort it, or whose connection is lost. */
        ENDING,
        /** Ended in some way. */
        DONE
    }

    /** What is asked. */
    Exchange<R> exchange();

    /** Where it is now. */
    State state();

    /**
     * Waits for the end, which comes, at the latest, with the timeout. An interrupt does not end it, since buffers may
     * be in use until then; the thread's flag stays.
     *
     * @throws StorageException when it came to no end of its own: timeout, cancelled, session lost
     */
    R await() throws StorageException;

    /** The end, as a future of its own, which fails with {@link StorageException}; it is completed on the loop. */
    CompletableFuture<R> future();

    /**
     * Stops the task: takes it out of the queue, or has the target abort it, and waits for that. It then ends with
     * {@link lunar.block.AbortedException}.
     *
     * @return done when nothing of it is left at the target: with true when it was stopped, false when it had ended, or
     *         goes on since the target does not abort it
     */
    CompletableFuture<Boolean> cancel();
}
