package lunar.filter;

/**
 * Limits an average rate: returns how long a caller must wait for an amount. Up to {@link #BURST_NANOS} of unused time
 * is available for a burst. The caller supplies the time.
 */
final class Rate {
    static final long BURST_NANOS = 100_000_000;
    private static final double NANOS_PER_SECOND = 1e9;

    private final double nanosPerUnit;
    /** When everything taken so far has been paid for. Guarded by this, like the start. */
    private long paidAtNanos;
    private boolean started;

    Rate(long unitsPerSecond) { this.nanosPerUnit = NANOS_PER_SECOND / unitsPerSecond; }

    /** Takes an amount and returns the nanoseconds until it may be used. */
    synchronized long take(long units, long nowNanos) {
        // nanoTime has any origin and may wrap, so times are compared by their difference.
        if (!started || nowNanos - paidAtNanos > BURST_NANOS) {
            paidAtNanos = nowNanos - BURST_NANOS;
            started = true;
        }
        long wait = Math.max(0, paidAtNanos - nowNanos);
        paidAtNanos += Math.round(units * nanosPerUnit);
        return wait;
    }
}
