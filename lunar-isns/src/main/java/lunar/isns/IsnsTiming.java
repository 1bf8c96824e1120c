package lunar.isns;

import java.time.Duration;

/**
 * Time limits and intervals.
 *
 * @param connect to connect
 * @param answer until an answer is there
 * @param firstRetry between an attempt that has failed and the next; doubled with each
 * @param lastRetry the longest time between attempts
 * @param check the longest time between two looks at whether we are registered
 * @param farewell to deregister, at the end
 * @param period after how much silence the name server is asked to forget us, in whole seconds
 */
public record IsnsTiming(Duration connect, Duration answer, Duration firstRetry,
        Duration lastRetry, Duration check, Duration farewell, Duration period) {
    /** The times for production use. */
    public static final IsnsTiming DEFAULT = new IsnsTiming(Duration.ofSeconds(5),
            Duration.ofSeconds(10), Duration.ofSeconds(1), Duration.ofMinutes(1),
            Duration.ofMinutes(1), Duration.ofSeconds(2), Duration.ofMinutes(5));

    private static final int SHARE = 3;
    private static final long SHORTEST_MS = 1_000;

    public IsnsTiming {
        for (Duration one : new Duration[]{connect, answer, firstRetry, lastRetry, check, farewell,
                period}) {
            if (one.toMillis() < 1) {
                throw new IllegalArgumentException("a time must be a millisecond at least");
            }
        }
    }

    /**
     * Milliseconds until the next look, so that two may fail before the period is over.
     *
     * @param periodSeconds what the name server says, as an unsigned number; 0 for never
     */
    long checkAfterMs(int periodSeconds) {
        long shareMs = Integer.toUnsignedLong(periodSeconds) * 1_000 / SHARE;
        return shareMs == 0
                ? check.toMillis()
                : Math.min(check.toMillis(), Math.max(SHORTEST_MS, shareMs));
    }
}
