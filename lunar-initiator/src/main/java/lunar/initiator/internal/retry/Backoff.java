package lunar.initiator.internal.retry;

/**
 * Exponential backoff: each pause is twice as long as the one before, up to a limit, until {@link #reset}. The only
 * place that computes such pauses: commands of a busy unit, logins of paths and connections, logins that end stale
 * sessions, queries and polls. Not thread-safe; allocates nothing.
 */
public final class Backoff {
    private final long firstMs;
    private final long maxMs;
    /** The latest pause; 0 before the first. */
    private long pauseMs;

    public Backoff(long firstMs, long maxMs) {
        this.firstMs = firstMs;
        this.maxMs = maxMs;
    }

    /** Returns the next pause, in milliseconds. */
    public long nextMs() {
        pauseMs = pauseMs == 0 ? firstMs : Math.min(maxMs, 2 * pauseMs);
        return pauseMs;
    }

    /**
     * Returns the next pause after a period of use. If that lasted at least as long as the previous pause, returns the
     * first pause: an unstable connection is used more than waited for, but a target that drops sessions does not cause
     * a tight loop.
     *
     * @param usedMs duration of the use; 0 for none
     */
    public long nextMs(long usedMs) {
        if (usedMs >= pauseMs) {
            reset();
        }
        return nextMs();
    }

    /** Makes the next pause the first again. */
    public void reset() { pauseMs = 0; }
}
