package lunar.raid;

import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Stripes of a volume at work that a write has left half written, since a member had no space: their redundancy is not
 * true until a resync. At most {@link #MAX}. For any thread.
 */
final class HalfWritten {
    static final int MAX = 1 << 16;

    /** With a number that grows with each addition. */
    private final ConcurrentSkipListMap<Long, Long> stripes = new ConcurrentSkipListMap<>();
    /** Guarded by this. */
    private long additions;
    private volatile int count;

    boolean isEmpty() { return count == 0; }

    boolean contains(long stripe) { return count != 0 && stripes.containsKey(stripe); }

    /** False where there are too many. */
    synchronized boolean add(long stripe) {
        if (count >= MAX && !stripes.containsKey(stripe)) {
            return false;
        }
        stripes.put(stripe, ++additions);
        count = stripes.size();
        return true;
    }

    /** Those that there are now. */
    synchronized Taken take() {
        return new Taken(new TreeMap<>(stripes), additions);
    }

    /** A resync looks after these: only those stay that have come since. */
    synchronized void remove(Taken taken) {
        taken.stripes.keySet().forEach(stripe -> stripes.computeIfPresent(stripe,
                (_, added) -> added <= taken.additions ? null : added));
        count = stripes.size();
    }

    /** Stripes as they were at some moment. */
    record Taken(TreeMap<Long, Long> stripes, long additions) implements StripeSet {
        @Override
        public long next(long from) {
            Long next = stripes.ceilingKey(from);
            return next == null ? NONE : next;
        }
    }
}
