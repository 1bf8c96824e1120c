package lunar.initiator.internal.retry;

/**
 * Exponential backoff: each pause is twice as long as the one before, up to a limit, until {@link #reset}. The only
 * place that computes such pauses: commands of a busy unit, logins of paths and connections, logins that end stale
 * sessions, questions and polls. Not thread-safe; allocates nothing.
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
     * Returns the next pause after something that did not last. Where it was usable for at least as long as the pause
     * before it, that is the first pause: on a bad line there is more work than waiting, and no tight loop at a target
     * that throws sessions out.
     *
     * @param usedMs for how long it was usable; 0 where it never was
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
