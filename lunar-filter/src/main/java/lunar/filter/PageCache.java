package lunar.filter;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a cache: their index and their memory, which is native and allocated on demand, in chunks, up to a fixed
 * number of slots.
 *
 * <p>A page does not change while it is in the index: a change of the device removes it, and may add the new content in
 * another slot. Therefore a reader that has pinned a slot under the lock may copy from it without the lock; a removed
 * slot becomes free when its last reader has unpinned it.
 *
 * <p>The caller's lock guards everything, except for copies to and from slots: those need a pin, or a slot that was
 * returned by {@link #take} and not yet passed to {@link #add}.
 */
final class PageCache {
    static final int NO_SLOT = -1;
    static final int CHUNK_BYTES = 1 << 20;
    private static final int ALIGNMENT = 4096;
    private static final long NO_PAGE = -1;

    private final int pageBytes;
    private final CachePolicy policy;
    private final LongIntMap index;
    private final long[] pageIn;
    private final int[] pins;
    /** Released slots; those from {@code used} on were never allocated. */
    private final int[] free;
    private int freeCount;
    private int used;
    private int held;
    private int slots;
    private long evicted;
    private final @Nullable MemorySegment[] chunks;
    private final Arena arena = Arena.ofShared();

    PageCache(int slots, int pageBytes, CachePolicy.Factory policy) {
        this.slots = slots;
        this.pageBytes = pageBytes;
        this.policy = policy.create(slots);
        index = new LongIntMap(slots);
        pageIn = new long[slots];
        Arrays.fill(pageIn, NO_PAGE);
        pins = new int[slots];
        free = new int[slots];
        chunks = new MemorySegment[Math.ceilDiv(slots, CHUNK_BYTES / pageBytes)];
    }

    int slots() { return slots; }

    /** Pages in the index. */
    int held() { return held; }

    /** Pages that had to make room. */
    long evicted() { return evicted; }

    boolean contains(long page) { return index.get(page) != NO_SLOT; }

    /** Pins a page that is there, which counts as a use of it. */
    int pin(long page) {
        int slot = index.get(page);
        pins[slot]++;
        policy.used(slot);
        return slot;
    }

    void unpin(int slot) {
        if (--pins[slot] == 0 && pageIn[slot] == NO_PAGE) {
            giveBack(slot);
        }
    }

    /** A slot for a page to come; another page may have to go for it. NO_SLOT where all are pinned or being filled. */
    int take() {
        if (freeCount > 0) {
            return free[--freeCount];
        }
        if (used < slots && hasMemory(used)) {
            return used++;
        }
        while (held > 0) {
            int slot = policy.evict();
            if (slot < 0 || slot >= used || pageIn[slot] == NO_PAGE) {
                return NO_SLOT;
            }
            forget(slot);
            evicted++;
            if (pins[slot] == 0) {
                return slot;
            }
        }
        return NO_SLOT;
    }

    private boolean hasMemory(int slot) {
        int chunk = slot / (CHUNK_BYTES / pageBytes);
        if (chunks[chunk] == null) {
            try {
                chunks[chunk] = arena.allocate(CHUNK_BYTES, ALIGNMENT);
            } catch (OutOfMemoryError _) { // the cache continues with the memory it has
                slots = used;
                return false;
            }
        }
        return true;
    }

    /** Releases a slot that was taken and not added. */
    void giveBack(int slot) {
        free[freeCount++] = slot;
    }

    /** Adds a page in a slot, unless another slot already has it with the same content. */
    void add(int slot, long page) {
        if (contains(page)) {
            giveBack(slot);
            return;
        }
        index.put(page, slot);
        pageIn[slot] = page;
        held++;
        policy.added(slot, page);
    }

    private void forget(int slot) {
        int _ = index.remove(pageIn[slot]);
        pageIn[slot] = NO_PAGE;
        held--;
    }

    private void remove(int slot) {
        forget(slot);
        policy.removed(slot);
        if (pins[slot] == 0) {
            giveBack(slot);
        }
    }

    /** Removes all cached pages of a range. */
    void removeAll(long first, long end) {
        if (end - first > used) {
            for (int slot = 0; slot < used; slot++) {
                if (pageIn[slot] >= first && pageIn[slot] < end) {
                    remove(slot);
                }
            }
            return;
        }
        for (long page = first; page < end; page++) {
            int slot = index.get(page);
            if (slot != NO_SLOT) {
                remove(slot);
            }
        }
    }

    /** Copies from a pinned slot. */
    void copyOut(int slot, long offset, MemorySegment to, long at, long bytes) {
        MemorySegment.copy(chunk(slot), offsetOf(slot) + offset, to, at, bytes);
    }

    /** Fills a slot that was taken. */
    void copyIn(int slot, MemorySegment from, long at) {
        MemorySegment.copy(from, at, chunk(slot), offsetOf(slot), pageBytes);
    }

    private MemorySegment chunk(int slot) {
        return Objects.requireNonNull(chunks[slot / (CHUNK_BYTES / pageBytes)]);
    }

    private long offsetOf(int slot) {
        return (long) (slot % (CHUNK_BYTES / pageBytes)) * pageBytes;
    }

    /** Frees the memory; no thread may be copying any longer. */
    void close() { arena.close(); }
}
