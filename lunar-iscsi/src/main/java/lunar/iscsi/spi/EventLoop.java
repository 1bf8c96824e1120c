package lunar.iscsi.spi;

import java.util.concurrent.Executor;

/**
 * One thread that owns transports and runs tasks and timers for them. State which belongs to a loop is touched by
 * its thread only and needs no lock.
 */
public interface EventLoop extends Executor {
    /** Runs a task on the loop's thread, after those handed in before. Callable from any thread. */
    @Override
    void execute(Runnable task);

    /** Runs a task after a delay, until cancelled. Callable from any thread. */
    Timer schedule(Runnable task, long delayMs);

    /** Whether the caller is the loop's thread. */
    boolean inLoop();

    /** Monotonic time in milliseconds, as the loop's timers see it. */
    long nowMs();

    /** A scheduled task. */
    @FunctionalInterface
    interface Timer {
        /** Makes the task not run, if it has not run yet. */
        void cancel();
    }
}
