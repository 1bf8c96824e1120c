package lunar.raid.service;

import java.time.Duration;

/**
 * Intervals of a running volume.
 *
 * @param tick time between two checks of the volume
 * @param metadataTicks ticks after which bits and entries that are not needed any more are cleared
 * @param firstRetry time until a missing member is reopened; doubled with each failed attempt
 * @param lastRetry the longest time between two attempts
 * @param spareAfter how long a failed slot waits for its member before it takes a spare
 * @param open how long the start waits for members to open
 * @param stop how long the stop waits for members to note it
 */
public record RunTiming(Duration tick, int metadataTicks, Duration firstRetry, Duration lastRetry,
        Duration spareAfter, Duration open, Duration stop) {
    /** Defaults for production. */
    public static final RunTiming DEFAULT = new RunTiming(Duration.ofSeconds(1), 5,
            Duration.ofSeconds(2), Duration.ofMinutes(1), Duration.ofSeconds(5),
            Duration.ofSeconds(30), Duration.ofSeconds(30));

    public RunTiming {
        if (tick.isZero() || tick.isNegative() || metadataTicks < 1 || firstRetry.isNegative()
                || lastRetry.compareTo(firstRetry) < 0) {
            throw new IllegalArgumentException("impossible timing");
        }
    }

    /** Returns how long to wait after a number of failures in a row. */
    Duration retryAfter(int failures) {
        Duration wait = firstRetry.multipliedBy(1L << Math.clamp(failures - 1, 0, 20));
        return wait.compareTo(lastRetry) > 0 ? lastRetry : wait;
    }
}
