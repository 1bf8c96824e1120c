package lunar.isns;

import java.time.Duration;

/**
 * Timeouts and intervals of a registrar.
 *
 * @param connect timeout for connecting
 * @param answer timeout for a response
 * @param firstRetry pause after the first failed attempt; doubled with each further one
 * @param lastRetry maximum pause between attempts
 * @param check maximum interval between checks of the registration
 * @param farewell timeout for deregistering at the end
 * @param period registration period after which the name server drops a silent entity, in whole seconds
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
                throw new IllegalArgumentException("times must be at least 1 ms");
            }
        }
    }

    /**
     * Returns the milliseconds until the next check, chosen so that two checks may fail within the period.
     *
     * @param periodSeconds period reported by the name server, unsigned; 0 for no expiry
     */
    long checkAfterMs(int periodSeconds) {
        long shareMs = Integer.toUnsignedLong(periodSeconds) * 1_000 / SHARE;
        return shareMs == 0
                ? check.toMillis()
                : Math.min(check.toMillis(), Math.max(SHORTEST_MS, shareMs));
    }
}
