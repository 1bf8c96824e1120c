package lunar.initiator.multipath;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Runs an action on its own virtual thread, no later than the earliest of the set times. Does not use the common pool,
 * because waiting callers may occupy all of its threads. Not thread-safe: its user's lock guards it.
 */
final class ExpiryTimer {
    private static final Executor VIRTUAL_THREAD = action -> {
        var _ = Thread.ofVirtual().name("lunar-expiry").start(action);
    };

    private final Runnable action;
    private boolean set;
    private long untilNanos;

    ExpiryTimer(Runnable action) { this.action = action; }

    /**
     * Sets the timer for a time, unless it is set for an earlier one.
     *
     * @param atNanos by {@link System#nanoTime}
     */
    void set(long atNanos) {
        if (set && untilNanos - atNanos <= 0) {
            return;
        }
        set = true;
        untilNanos = atNanos;
        CompletableFuture.delayedExecutor(Math.max(0, atNanos - System.nanoTime()),
                TimeUnit.NANOSECONDS, VIRTUAL_THREAD).execute(action);
    }

    /** Called first by the action: the next time is set anew. */
    void expired() { set = false; }
}
