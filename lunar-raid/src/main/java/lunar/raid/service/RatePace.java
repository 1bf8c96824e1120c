package lunar.raid.service;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import lunar.raid.Pace;
import org.jspecify.annotations.Nullable;

/** Limits a scan to a number of bytes per second. A pause is a task of the volume's timer. */
final class RatePace implements Pace {
    /** Credit that is unused for longer than this expires, so that a pause is not made up for in a burst. */
    private static final long MAX_DEBT_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final double nsPerByte;
    private final ScheduledExecutorService timer;
    private final LongSupplier clockNs;
    private final AtomicReference<@Nullable Runnable> pending = new AtomicReference<>();
    private volatile boolean isReleased;
    /** The earliest time at which the work so far may have ended. Guarded by this. */
    private long dueNs;

    /** @param bytesPerSecond limit of the bytes that {@link #next} counts, over all members */
    RatePace(long bytesPerSecond, ScheduledExecutorService timer, LongSupplier clockNs) {
        nsPerByte = (double) TimeUnit.SECONDS.toNanos(1) / bytesPerSecond;
        this.timer = timer;
        this.clockNs = clockNs;
        dueNs = clockNs.getAsLong();
    }

    /** Ends the pauses, since the scan is to end; also a pause that is under way. */
    void release() {
        isReleased = true;
        if (pending.get() != null) {
            timer.execute(this::runPending);
        }
    }

    private void runPending() {
        Runnable goOn = pending.getAndSet(null);
        if (goOn != null) {
            goOn.run();
        }
    }

    @Override
    public void next(long bytes, Runnable goOn) {
        long waitNs = waitNs(bytes);
        if (waitNs <= 0 || isReleased) {
            goOn.run();
            return;
        }
        pending.set(goOn);
        try {
            var _ = timer.schedule(this::runPending, isReleased ? 0 : waitNs,
                    TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException _) { // the volume is being closed
            runPending();
        }
    }

    private synchronized long waitNs(long bytes) {
        long now = clockNs.getAsLong();
        dueNs = Math.max(dueNs, now - MAX_DEBT_NS) + (long) (bytes * nsPerByte);
        return dueNs - now;
    }
}
