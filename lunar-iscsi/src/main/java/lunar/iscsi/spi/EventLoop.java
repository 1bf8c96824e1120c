package lunar.iscsi.spi;

import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/**
 * Runs tasks, timers and the transports that it owns on a single thread. State which belongs to a loop is touched by
 * its thread only and needs no lock.
 *
 * <p>A loop may be lent to threads that wait for what it brings, so that an answer needs not wake two threads one
 * after the other. The guest then is the loop's thread; tasks and timers are left to the loop's own.
 */
public interface EventLoop extends Executor {
    /** Runs a task on the loop's thread, after those handed in before. Callable from any thread. */
    @Override
    void execute(Runnable task);

    /** Runs a task after a delay, until cancelled. Callable from any thread. */
    Timer schedule(Runnable task, long delayMs);

    /** Whether the caller is the loop's thread, be it a guest. */
    boolean inLoop();

    /**
     * Lends the loop after this turn, until there is something to do for its own thread or no guest has come for about
     * a millisecond. On the loop's thread. Without effect where a loop cannot be lent, or has other connections.
     *
     * @param nothingExpected whether no event is expected but those that guests wait for; called by any thread
     */
    default void lend(BooleanSupplier nothingExpected) {}

    /**
     * Runs a lent loop that no thread runs, until a condition holds or there is something to do for the loop's own
     * thread. An interrupt does not end it; it is kept. Not on the loop's thread.
     *
     * @return whether the condition holds; if not, the caller waits as it would without
     */
    default boolean lead(BooleanSupplier until) { return until.getAsBoolean(); }

    /** Whether the caller is a guest: what may run code of others is to be handed to {@link #execute} then. */
    default boolean isLent() {
        return false;
    }

    /** Calls the loop's own thread back, since an event is expected that no guest waits for. Any thread. */
    default void attend() {}

    /** Monotonic time in milliseconds, as the loop's timers see it. */
    long nowMs();

    /** A scheduled task. */
    @FunctionalInterface
    interface Timer {
        /** Makes the task not run, if it has not run yet. */
        void cancel();
    }
}
