package lunar.raid;

import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Stripes of a running volume that a write has left half written because a member had no space: their redundancy is
 * wrong until a resync. At most {@link #MAX}. For any thread.
 */
final class HalfWritten {
    static final int MAX = 1 << 16;

    /** Each stripe with a sequence number that grows with each addition. */
    private final ConcurrentSkipListMap<Long, Long> stripes = new ConcurrentSkipListMap<>();
    /** Guarded by this. */
    private long additions;
    private volatile int count;

    boolean isEmpty() { return count == 0; }

    boolean contains(long stripe) { return count != 0 && stripes.containsKey(stripe); }

    /** Adds a stripe; returns false if there are too many. */
    synchronized boolean add(long stripe) {
        if (count >= MAX && !stripes.containsKey(stripe)) {
            return false;
        }
        stripes.put(stripe, ++additions);
        count = stripes.size();
        return true;
    }

    /** Returns a snapshot of the stripes. */
    synchronized Taken take() {
        return new Taken(new TreeMap<>(stripes), additions);
    }

    /** Removes the stripes of a snapshot, which a resync takes over; those added again since then stay. */
    synchronized void remove(Taken taken) {
        taken.stripes.keySet().forEach(stripe -> stripes.computeIfPresent(stripe,
                (_, added) -> added <= taken.additions ? null : added));
        count = stripes.size();
    }

    /** A snapshot of the stripes. */
    record Taken(TreeMap<Long, Long> stripes, long additions) implements StripeSet {
        @Override
        public long next(long from) {
            Long next = stripes.ceilingKey(from);
            return next == null ? NONE : next;
        }
    }
}
