package lunar.raid.run;

import java.time.Duration;

/**
 * How often a running volume does what.
 *
 * @param tick between two looks at the volume
 * @param metadataTicks ticks after which bits and entries that are not needed any more go
 * @param firstRetry until a member that is missing is looked for again; doubled with each time that it is not there
 * @param lastRetry the longest time between two looks for it
 * @param spareAfter how long a failed slot waits for its member before it takes a spare
 * @param open how long the start waits for a member
 * @param stop how long the end waits for members to note it
 */
public record RunTiming(Duration tick, int metadataTicks, Duration firstRetry, Duration lastRetry,
        Duration spareAfter, Duration open, Duration stop) {
    /** For daily use. */
    public static final RunTiming DEFAULT = new RunTiming(Duration.ofSeconds(1), 5,
            Duration.ofSeconds(2), Duration.ofMinutes(1), Duration.ofSeconds(5),
            Duration.ofSeconds(30), Duration.ofSeconds(30));

    public RunTiming {
        if (tick.isZero() || tick.isNegative() || metadataTicks < 1 || firstRetry.isNegative()
                || lastRetry.compareTo(firstRetry) < 0) {
            throw new IllegalArgumentException("impossible timing");
        }
    }

    /** How long to wait after so many failures in a row. */
    Duration retryAfter(int failures) {
        Duration wait = firstRetry.multipliedBy(1L << Math.clamp(failures - 1, 0, 20));
        return wait.compareTo(lastRetry) > 0 ? lastRetry : wait;
    }
}
