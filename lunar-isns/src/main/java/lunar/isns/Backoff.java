package lunar.isns;

import java.util.concurrent.ThreadLocalRandom;

/** Exponential backoff: each pause is twice as long as the one before, up to a limit. Not thread-safe. */
final class Backoff {
    private final long firstMs;
    private final long lastMs;
    private long nextMs;

    Backoff(IsnsTiming timing) {
        firstMs = timing.firstRetry().toMillis();
        lastMs = Math.max(firstMs, timing.lastRetry().toMillis());
        nextMs = firstMs;
    }

    /** Milliseconds, a quarter more or less, so that servers that start together do not come together. */
    long nextMs() {
        long waitMs = nextMs;
        nextMs = Math.min(lastMs, 2 * nextMs);
        return Math.round(waitMs * ThreadLocalRandom.current().nextDouble(0.75, 1.25));
    }

    /** Starts over with the shortest wait, if things went well for as long as the longest one. */
    void wentWellFor(long ms) {
        if (ms >= lastMs) {
            nextMs = firstMs;
        }
    }
}
