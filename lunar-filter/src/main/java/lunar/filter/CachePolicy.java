package lunar.filter;

/**
 * Eviction policy of a {@link CacheFilter}. The cache calls it under its own lock, so implementations need none; they
 * must neither block nor throw, and should take constant time, because they are called for every page read.
 *
 * <p>A cache has a fixed number of slots, numbered from 0; a policy keeps its state in arrays of that length and then
 * allocates nothing. Slots contain pages, which are numbered from the first byte of the device. A custom policy is
 * passed to the filter as a {@link Factory}; this one evicts random pages:
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
    /** Creates the policy of one cache. */
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
     * Chooses a slot to evict and removes it. Called only while a slot contains a page. An invalid result keeps the new
     * page out of the cache, and is otherwise harmless.
     */
    int evict();

    /** The page that was not used for the longest time. Simple, and swept empty by one long scan. */
    static Factory lru() {
        return LruPolicy::new;
    }

    /**
     * S3-FIFO: three queues, which evict pages early that are used only once, so that a scan does not sweep the cache
     * (Yang and others, "FIFO queues are all you need for cache eviction", SOSP 2023).
     */
    static Factory s3Fifo() { return S3FifoPolicy::new; }
}
