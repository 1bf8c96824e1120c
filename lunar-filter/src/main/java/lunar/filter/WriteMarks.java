package lunar.filter;

/**
 * Detects whether a range has changed since a stamp was taken. Data read from the device may be cached only if no write
 * to it was in progress when the read began and none has begun since; then the cache matches the device. Written data
 * may be cached under the same condition, not counting the write itself.
 *
 * <p>Pages share a fixed number of counters, a group of neighbours each, so that the cost of a check does not depend on
 * the number of requests in flight. Sharing a counter can only make an unchanged page look changed. The caller's lock
 * guards it.
 */
final class WriteMarks {
    /** Stamp of a range that is being changed. */
    static final long CHANGING = -1;

    static final int GROUP_PAGES = 8;
    static final int COUNTERS = 4096;

    private final int[] underWay = new int[COUNTERS];
    private final long[] begun = new long[COUNTERS];

    /** A write to these pages begins. */
    void begin(long first, long end) {
        int count = counters(first, end);
        for (int i = 0; i < count; i++) {
            underWay[counter(first, i)]++;
            begun[counter(first, i)]++;
        }
    }

    /** It has ended. */
    void end(long first, long end) {
        int count = counters(first, end);
        for (int i = 0; i < count; i++) {
            underWay[counter(first, i)]--;
        }
    }

    /**
     * Takes a stamp to compare with later ({@link #isUnchanged}).
     *
     * @param own 1 for a write that has itself begun; otherwise 0
     * @return CHANGING where another write is in progress
     */
    long stamp(long first, long end, int own) {
        int count = counters(first, end);
        long sum = 0;
        for (int i = 0; i < count; i++) {
            if (underWay[counter(first, i)] > own) {
                return CHANGING;
            }
            sum += begun[counter(first, i)];
        }
        return sum;
    }

    /** Whether no write has begun since the stamp. Counters only grow, so an equal sum means equal counters. */
    boolean isUnchanged(long first, long end, long stamp) {
        int count = counters(first, end);
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += begun[counter(first, i)];
        }
        return sum == stamp;
    }

    private static int counters(long first, long end) {
        return (int) Math.min(COUNTERS,
                Math.ceilDiv(end, GROUP_PAGES) - Math.floorDiv(first, GROUP_PAGES));
    }

    private static int counter(long first, int i) {
        return (int) ((Math.floorDiv(first, GROUP_PAGES) + i) & (COUNTERS - 1));
    }
}
