package lunar.filter;

/**
 * Decides which page leaves a {@link CacheFilter} when another one needs its place. The cache calls it under its own
 * lock, so an implementation needs none; it must neither block nor throw, and its calls should take constant time: it
 * is told of every page that is read.
 *
 * <p>A cache has a fixed number of slots, numbered from 0; a policy keeps what it has to know in arrays of that length
 * and then allocates nothing. Slots hold pages, which are numbers too: the first page is at the first byte of the
 * device. One's own policy is given to the filter as a {@link Factory}; this one throws out any page at all:
 *
 * {@snippet :
 * final class RandomPolicy implements CachePolicy {
 *     private final SplittableRandom random = new SplittableRandom(1);
 *     private final int[] held;              // slots that hold a page, in any order
 *     private final int[] placeOf;           // where in that list a slot is
 *     private int count;
 *
 *     RandomPolicy(int slots) { held = new int[slots]; placeOf = new int[slots]; }
 *
 *     public void added(int slot, long page) { placeOf[slot] = count; held[count++] = slot; }
 *
 *     public void used(int slot) {}
 *
 *     public void removed(int slot) {
 *         int last = held[--count];
 *         held[placeOf[slot]] = last;
 *         placeOf[last] = placeOf[slot];
 *     }
 *
 *     public int evict() {
 *         int slot = held[random.nextInt(count)];
 *         removed(slot);
 *         return slot;
 *     }
 * }
 *
 * BlockDevice fast = new CacheFilter(slow, CacheOptions.of(64 << 20).withPolicy(RandomPolicy::new));
 * }
 */
public interface CachePolicy {
    /** Makes the policy of one cache. */
    @FunctionalInterface
    interface Factory {
        /** @param slots how many pages the cache holds at most, at least 1 */
        CachePolicy create(int slots);
    }

    /** A slot that was free now holds a page: it was read, read ahead or written. */
    void added(int slot, long page);

    /** The page in the slot was read. */
    void used(int slot);

    /** The slot is free again, not by choice of the policy: its page was changed below. */
    void removed(int slot);

    /**
     * Chooses a slot and forgets it. Asked only while a slot holds a page. An answer that is no such slot keeps a page
     * out of the cache, and does no other harm.
     */
    int evict();

    /** The page that was not used for the longest time. Simple, and swept empty by one long scan. */
    static Factory lru() {
        return LruPolicy::new;
    }

    /**
     * S3-FIFO: three queues, which throw out early what is used only once, so that a scan does not sweep the cache
     * (Yang and others, "FIFO queues are all you need for cache eviction", SOSP 2023).
     */
    static Factory s3Fifo() { return S3FifoPolicy::new; }
}
