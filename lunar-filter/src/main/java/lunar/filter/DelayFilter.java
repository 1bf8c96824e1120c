package lunar.filter;

import java.time.Duration;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;

/** Slows a device down: delays every request by a fixed and a random time, {@code delay=5ms+2ms:ram:1GiB}. */
public final class DelayFilter extends TimedFilter {
    /** Longest delay. */
    public static final Duration MAX_DELAY = Duration.ofMinutes(10);

    private final Random random;
    private final long fixedNanos;
    private final long jitterNanos;

    /**
     * A filter that owns the device below.
     *
     * @param jitter each request waits a random time from 0 to this, too
     * @param seed of the random times
     * @throws IllegalArgumentException if a time is negative or longer than {@link #MAX_DELAY}
     */
    public DelayFilter(BlockDevice below, Duration fixed, Duration jitter, long seed) {
        super(below);
        this.fixedNanos = nanos(fixed);
        this.jitterNanos = nanos(jitter);
        this.random = new Random(seed);
    }

    private static long nanos(Duration delay) {
        if (delay.isNegative() || delay.compareTo(MAX_DELAY) > 0) {
            throw new IllegalArgumentException("the delay must be between 0 and "
                    + MAX_DELAY.toMinutes() + " minutes, not " + delay.toMillis() + " ms");
        }
        return delay.toNanos();
    }

    @Override
    long delayNanos(BlockRequest request) {
        return fixedNanos + (jitterNanos == 0 ? 0 : random.nextLong(jitterNanos + 1));
    }

    @Override
    public String toString() {
        return "delay of " + fixedNanos / 1000 + "+" + jitterNanos / 1000 + " us over " + below();
    }
}
