package lunar.raid.engine.member;

import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import lunar.raid.StripeSet;

/**
 * Stripes of a running volume that wait for a resync: those that a write has left half written because a member had no
 * space, whose redundancy is wrong, and those that a resync could not restore because they could not be read, whose
 * redundancy may be wrong. For any thread.
 *
 * <p>The number is limited. From {@link #MAX} on, writes to other stripes are refused before they begin
 * ({@link #isFull}); those in progress then are still added. Resyncs add to less than that.
 *
 * <p>A stripe stays until a resync has made it consistent, under its lock, and is not taken out when that begins: all
 * {@link Slots} share one such set, and a request that holds those of a moment ago must not find the stripe in neither.
 */
public final class HalfWrittenStripes {
    /** Number from which on writes to other stripes are refused. */
    public static final int MAX = 1 << 16;

    /** Maximum number to which resyncs add: what they cannot read must not be what refuses writes. */
    private static final int MAX_OF_RESYNCS = MAX / 2;

    /** By stripe, whether its redundancy is known to be wrong. */
    private final ConcurrentSkipListMap<Long, Boolean> stripes = new ConcurrentSkipListMap<>();
    private volatile int count;

    public boolean isEmpty() { return count == 0; }

    boolean contains(long stripe) { return count != 0 && stripes.containsKey(stripe); }

    /** Whether the redundancy of a stripe is known to be wrong. */
    boolean isWrong(long stripe) {
        return count != 0 && stripes.getOrDefault(stripe, false);
    }

    /** Whether a write to a stripe must be refused, since it might have to be added, and there are too many. */
    boolean isFull(long stripe) {
        return count >= MAX && !stripes.containsKey(stripe);
    }

    /** Adds a stripe that a write has left half written; its redundancy is wrong. */
    public synchronized void add(long stripe) {
        put(stripe, true);
    }

    /**
     * Adds a stripe that a resync has not restored.
     *
     * @param isWrong whether its redundancy is known to be wrong, not just suspect
     * @return false if there are too many
     */
    public synchronized boolean addLeft(long stripe, boolean isWrong) {
        if (count >= MAX_OF_RESYNCS && !stripes.containsKey(stripe)) {
            return false;
        }
        put(stripe, isWrong);
        return true;
    }

    private void put(long stripe, boolean isWrong) {
        stripes.merge(stripe, isWrong, Boolean::logicalOr);
        count = stripes.size();
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
