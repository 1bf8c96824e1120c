package lunar.iscsi.spi;

import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/**
 * Runs tasks, timers and the transports that it owns on one thread at a time. State that belongs to a loop is accessed
 * by that thread only and needs no lock.
 *
 * <p>A loop may be lent to a thread that waits for its events, so that a response does not wake two threads in
 * sequence. The guest then acts as the loop's thread; tasks and timers stay with the loop's own thread.
 */
public interface EventLoop extends Executor {
    /** Runs a task on the loop's thread, after those handed in before. Callable from any thread. */
    @Override
    void execute(Runnable task);

    /** Runs a task after a delay, until cancelled. Callable from any thread. */
    Timer schedule(Runnable task, long delayMs);

    /** Whether the caller is the loop's thread, whether a guest. */
    boolean inLoop();

    /**
     * Lends the loop after this iteration, until its own thread has work or no guest has run it for about a
     * millisecond. Called on the loop's thread. No effect if the loop cannot be lent or has other connections.
     *
     * @param nothingExpected whether only events that guests wait for are expected; called by any thread
     */
    default void lend(BooleanSupplier nothingExpected) {}

    /**
     * Runs a lent loop that no thread is running, until a condition holds or the loop's own thread has work. Interrupts
     * are ignored, but the flag is kept. Must not be called on the loop's thread.
     *
     * @return whether the condition holds; if not, the caller must wait in the usual way
     */
    default boolean lead(BooleanSupplier until) { return until.getAsBoolean(); }

    /** Whether the caller is a guest: what may run code of others is to be handed to {@link #execute} then. */
    default boolean isLent() {
        return false;
    }

    /** Calls the loop's own thread back, since an event is expected that no guest waits for. Any thread. */
    default void attend() {}

    /**
     * Runs work that may block but normally takes microseconds: on the loop's thread after this iteration, without a
     * switch of threads, or by an executor, such as when the loop has other work or has lately had work that was slow.
     * Another thread takes over the loop if the work takes longer than a millisecond or two. The work is not on the
     * loop ({@link #inLoop}). Called on the loop's thread.
     *
     * @throws java.util.concurrent.RejectedExecutionException if the executor rejects the work
     */
    default void executeBriefly(Runnable work, Executor executor) { executor.execute(work); }

    /** Monotonic time in milliseconds, as the loop's timers see it. */
    long nowMs();

    /** A scheduled task. */
    @FunctionalInterface
    interface Timer {
        /** Makes the task not run, if it has not run yet. */
        void cancel();
    }
}
