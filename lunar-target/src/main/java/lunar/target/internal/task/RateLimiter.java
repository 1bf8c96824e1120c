package lunar.target.internal.task;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import lunar.target.IoLimit;
import org.jspecify.annotations.Nullable;

/**
 * Enforces an {@link IoLimit} for all sessions that it applies to together. A command that takes more than is left is
 * admitted and delays the commands after it, so that a limit below the size of one transfer still admits it. The caller
 * supplies the time, {@link System#nanoTime}. Thread-safe.
 */
public final class RateLimiter {
    private static final double NANOS_PER_SECOND = 1e9;

    private final IoLimit limit;
    private final @Nullable Budget commands;
    private final @Nullable Budget bytes;

    public RateLimiter(IoLimit limit, long nowNanos) {
        this.limit = limit;
        commands = budget(limit, limit.commandsPerSecond(), nowNanos);
        bytes = budget(limit, limit.bytesPerSecond(), nowNanos);
    }

    private static @Nullable Budget budget(IoLimit limit, long perSecond, long nowNanos) {
        return perSecond == IoLimit.UNLIMITED
                ? null
                : new Budget(perSecond, limit.burst().toNanos(), nowNanos);
    }

    /**
     * Returns a limiter for a limit: the existing one, with what it has admitted, if the limit is unchanged; null for
     * no limit.
     */
    public static @Nullable RateLimiter of(Optional<IoLimit> limit, @Nullable RateLimiter before) {
        if (limit.isEmpty()) {
            return null;
        }
        return before != null && before.limit.equals(limit.get())
                ? before
                : new RateLimiter(limit.get(), System.nanoTime());
    }

    /** Whether everything that was taken is paid for, so that a new limiter would admit no more. */
    public boolean isPaid(long nowNanos) {
        return (commands == null || commands.isPaid(nowNanos))
                && (bytes == null || bytes.isPaid(nowNanos));
    }

    /** Takes a command of so many bytes, and returns the nanoseconds until it may begin. */
    long take(long byteCount, long nowNanos) {
        return Math.max(commands == null ? 0 : commands.take(1, nowNanos),
                bytes == null ? 0 : bytes.take(byteCount, nowNanos));
    }

    /** Takes more bytes for a command that has ended, or gives some back if negative. */
    void takeMore(long byteCount) {
        if (bytes != null) {
            bytes.giveBack(-byteCount);
        }
    }

    /** Gives back what a command has taken that does not begin. */
    void giveBack(long byteCount) {
        if (commands != null) {
            commands.giveBack(1);
        }
        if (bytes != null) {
            bytes.giveBack(byteCount);
        }
    }

    /** One of the rates: the time until which everything taken is paid for, as in the generic cell rate algorithm. */
    private static final class Budget {
        private final double nanosPerUnit;
        private final long burstNanos;
        private final AtomicLong paidAtNanos;

        Budget(long perSecond, long burstNanos, long nowNanos) {
            nanosPerUnit = NANOS_PER_SECOND / perSecond;
            this.burstNanos = burstNanos;
            paidAtNanos = new AtomicLong(nowNanos);
        }

        boolean isPaid(long nowNanos) { return paidAtNanos.get() - nowNanos <= 0; }

        long take(long units, long nowNanos) {
            long cost = cost(units);
            while (true) {
                long paid = paidAtNanos.get();
                // nanoTime may wrap, so times are compared by their difference
                long from = nowNanos - paid > burstNanos ? nowNanos - burstNanos : paid;
                if (paidAtNanos.compareAndSet(paid, from + cost)) {
                    return Math.max(0, from - nowNanos);
                }
            }
        }

        void giveBack(long units) { paidAtNanos.addAndGet(-cost(units)); }

        private long cost(long units) { return Math.round(units * nanosPerUnit); }
    }
}
