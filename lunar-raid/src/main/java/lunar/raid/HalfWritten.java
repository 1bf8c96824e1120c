package lunar.raid;

import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Stripes of a running volume that a write has left half written because a member had no space: their redundancy is
 * wrong until a resync. At most {@link #MAX}. For any thread.
 *
 * <p>A stripe stays until a resync has made it consistent, under its lock, and is not taken out when that begins: all
 * {@link Slots} share one such set, and a request that holds those of a moment ago must not find the stripe in neither.
 */
final class HalfWritten {
    static final int MAX = 1 << 16;

    private final ConcurrentSkipListSet<Long> stripes = new ConcurrentSkipListSet<>();
    private volatile int count;

    boolean isEmpty() { return count == 0; }

    boolean contains(long stripe) { return count != 0 && stripes.contains(stripe); }

    /** Adds a stripe; returns false if there are too many. */
    synchronized boolean add(long stripe) {
        if (count >= MAX && !stripes.contains(stripe)) {
            return false;
        }
        stripes.add(stripe);
        count = stripes.size();
        return true;
    }

    /** Removes a stripe that is consistent again, and still locked. */
    void remove(long stripe) {
        if (contains(stripe)) {
            synchronized (this) {
                stripes.remove(stripe);
                count = stripes.size();
            }
        }
    }

    /** Returns the stripes that are in it now. */
    synchronized StripeSet snapshot() {
        var now = new TreeSet<>(stripes);
        return from -> {
            Long next = now.ceiling(from);
            return next == null ? StripeSet.NONE : next;
        };
    }
}
