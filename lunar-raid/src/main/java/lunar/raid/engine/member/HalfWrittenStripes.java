package lunar.raid.engine.member;

import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import lunar.raid.StripeSet;

/**
 * Stripes of a running volume that wait for a resync: those that a write has left half written because a member had no
 * space, whose redundancy is wrong, and those that a resync could not restore because they could not be read, whose
 * redundancy may be wrong. At most {@link #MAX}. For any thread.
 *
 * <p>A stripe stays until a resync has made it consistent, under its lock, and is not taken out when that begins: all
 * {@link Slots} share one such set, and a request that holds those of a moment ago must not find the stripe in neither.
 */
public final class HalfWrittenStripes {
    static final int MAX = 1 << 16;

    /** By stripe, whether its redundancy is known to be wrong. */
    private final ConcurrentSkipListMap<Long, Boolean> stripes = new ConcurrentSkipListMap<>();
    private volatile int count;

    public boolean isEmpty() { return count == 0; }

    boolean contains(long stripe) { return count != 0 && stripes.containsKey(stripe); }

    /** Whether the redundancy of a stripe is known to be wrong. */
    boolean isWrong(long stripe) {
        return count != 0 && stripes.getOrDefault(stripe, false);
    }

    /** Adds a stripe whose redundancy is wrong; returns false if there are too many. */
    public boolean add(long stripe) {
        return add(stripe, true);
    }

    /** Adds a stripe whose redundancy may be wrong; returns false if there are too many. */
    public boolean addSuspect(long stripe) {
        return add(stripe, false);
    }

    private synchronized boolean add(long stripe, boolean isWrong) {
        if (count >= MAX && !stripes.containsKey(stripe)) {
            return false;
        }
        stripes.merge(stripe, isWrong, Boolean::logicalOr);
        count = stripes.size();
        return true;
    }

    /** Removes a stripe that is consistent again, and still locked. */
    public void remove(long stripe) {
        if (contains(stripe)) {
            synchronized (this) {
                stripes.remove(stripe);
                count = stripes.size();
            }
        }
    }

    /** Returns the stripes that are in it now. */
    public synchronized StripeSet snapshot() {
        var now = new TreeSet<>(stripes.keySet());
        return from -> {
            Long next = now.ceiling(from);
            return next == null ? StripeSet.NONE : next;
        };
    }
}
