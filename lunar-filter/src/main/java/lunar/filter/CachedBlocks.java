package lunar.filter;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.StampedLock;
import lunar.block.BlockDevice;
import org.jspecify.annotations.Nullable;

/**
 * The cached blocks, and the rule that decides which blocks may be cached ({@link WriteMarks}). Thread-safe: one lock
 * guards the index, and is never held while data are copied.
 *
 * <p>Blocks are added and removed as whole pages.
 */
final class CachedBlocks {
    /** More than any device has, and safe to add a group to. */
    private static final long ALL_PAGES = Long.MAX_VALUE / 2;

    private final BlockDevice below;
    private final int blockSize;
    private final int pageBytes;
    private final int blocksPerPage;
    private final long maxKeptPages;
    /** Held shared while blocks are copied from or to pages; exclusive for the close. */
    private final StampedLock gate = new StampedLock();
    /** Guards all that follows. */
    private final ReentrantLock lock = new ReentrantLock();
    private final PageCache pages;
    private final WriteMarks marks = new WriteMarks();
    private long knownBlocks;
    private long knownLosses;
    /** Caching is suspended: the device may have lost writes, and no flush has succeeded since. */
    private boolean doubtful;
    /** How often it has become so. */
    private long doubts;

    CachedBlocks(BlockDevice below, CacheOptions options) {
        this.below = below;
        blockSize = below.blockSize();
        pageBytes = options.pageBytes();
        blocksPerPage = pageBytes / blockSize;
        if (blocksPerPage == 0) {
            throw new IllegalArgumentException("the page size of a cache over " + below
                    + " must be at least its block size of " + blockSize + " bytes, not "
                    + pageBytes);
        }
        pages = new PageCache((int) (options.capacityBytes() / pageBytes), pageBytes,
                options.policy());
        maxKeptPages = pages.slots() / 4;
        knownBlocks = below.blockCount();
        knownLosses = below.writeLosses();
    }

    int blocksPerPage() { return blocksPerPage; }

    int pageBytes() { return pageBytes; }

    long pageOf(long lba) { return lba / blocksPerPage; }

    /** The page after the last one that a range touches. */
    long endPage(long lba, long blockCount) {
        return Math.ceilDiv(lba + blockCount, blocksPerPage);
    }

    /** Returns the number of whole pages of the device; a partial one at its end is never cached. */
    long pageCount() {
        return below.blockCount() / blocksPerPage;
    }

    /** Pages that had to make room. */
    long evictedPages() {
        lock.lock();
        try {
            return pages.evicted();
        } finally {
            lock.unlock();
        }
    }

    long heldPages() {
        lock.lock();
        try {
            return pages.held();
        } finally {
            lock.unlock();
        }
    }

    // --- reading ---

    /** The first page of these that is not there; {@code end} where all are. */
    long firstMissing(long first, long end) {
        lock.lock();
        try {
            return missing(first, end);
        } finally {
            lock.unlock();
        }
    }

    private long missing(long first, long end) {
        long page = first;
        while (page < end && pages.contains(page)) {
            page++;
        }
        return page;
    }

    /**
     * Pins the pages of a range if all of them are cached; they are a consistent state.
     *
     * @return their slots, for {@link #copyOut}; null if one is missing
     */
    int @Nullable [] pin(long lba, long blockCount) {
        long first = pageOf(lba);
        long end = endPage(lba, blockCount);
        long losses = below.writeLosses();
        lock.lock();
        try {
            notice(losses);
            if (doubtful || end - first > pages.slots() || missing(first, end) < end) {
                return null;
            }
            var slots = new int[(int) (end - first)];
            for (int i = 0; i < slots.length; i++) {
                slots[i] = pages.pin(first + i);
            }
            return slots;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Copies pinned pages and unpins them.
     *
     * @throws IllegalStateException or another exception if the buffer cannot be used
     * @return false if the cache is closed
     */
    boolean copyOut(int[] slots, long lba, MemorySegment buffer) {
        long entered = gate.tryReadLock();
        if (entered == 0) {
            return false;
        }
        try {
            long offset = lba % blocksPerPage * blockSize;
            long at = 0;
            for (int slot : slots) {
                long bytes = Math.min(pageBytes - offset, buffer.byteSize() - at);
                pages.copyOut(slot, offset, buffer, at, bytes);
                at += bytes;
                offset = 0;
            }
            return true;
        } finally {
            gate.unlockRead(entered);
            unpin(slots);
        }
    }

    private void unpin(int[] slots) {
        lock.lock();
        try {
            for (int slot : slots) {
                pages.unpin(slot);
            }
        } finally {
            lock.unlock();
        }
    }

    // --- keeping what was read ---

    /**
     * Returns a stamp, to be taken before a range is read from the device, and passed to {@link #keep} with the data.
     */
    long stamp(long lba, long blockCount) {
        long first = pageOf(lba);
        long end = endPage(lba, blockCount);
        long losses = below.writeLosses();
        lock.lock();
        try {
            notice(losses);
            return doubtful || end - first > maxKeptPages
                    ? WriteMarks.CHANGING // not to be kept
                    : marks.stamp(first, end, 0);
        } finally {
            lock.unlock();
        }
    }

    boolean isUnchanged(long lba, long blockCount, long stamp) {
        lock.lock();
        try {
            return marks.isUnchanged(pageOf(lba), endPage(lba, blockCount), stamp);
        } finally {
            lock.unlock();
        }
    }

    /** Caches the whole pages of data read, if the device has not changed meanwhile. */
    void keep(long lba, long blockCount, MemorySegment data, long stamp) {
        int[] slots = fill(lba, blockCount, data, stamp);
        if (slots != null) {
            lock.lock();
            try {
                addOrGiveBack(lba, blockCount, slots, stamp);
            } finally {
                lock.unlock();
            }
        }
    }

    // --- changes ---

    /** Begins a change of a range; removes its pages from the cache. */
    long beginChange(long lba, long blockCount) {
        long first = pageOf(lba);
        long end = endPage(lba, blockCount);
        long losses = below.writeLosses();
        lock.lock();
        try {
            notice(losses);
            marks.begin(first, end);
            pages.removeAll(first, end);
            return doubtful || end - first > maxKeptPages
                    ? WriteMarks.CHANGING
                    : marks.stamp(first, end, 1);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends a change of a range.
     *
     * @param data current content of the range; null if unknown
     */
    void endChange(long lba, long blockCount, @Nullable MemorySegment data, long stamp) {
        int[] slots = data == null ? null : fill(lba, blockCount, data, stamp);
        lock.lock();
        try {
            if (slots != null) {
                addOrGiveBack(lba, blockCount, slots, stamp);
            }
            marks.end(pageOf(lba), endPage(lba, blockCount));
        } finally {
            lock.unlock();
        }
    }

    /** Everything is going to change, until {@link #endChangeOfAll}. */
    void beginChangeOfAll() {
        lock.lock();
        try {
            marks.begin(0, ALL_PAGES);
            pages.removeAll(0, ALL_PAGES);
        } finally {
            lock.unlock();
        }
    }

    void endChangeOfAll() {
        lock.lock();
        try {
            marks.end(0, ALL_PAGES);
        } finally {
            lock.unlock();
        }
    }

    /** The size may have changed. */
    void lookAtSize() {
        long losses = below.writeLosses();
        lock.lock();
        try {
            notice(losses);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Empties the cache after a change of size or a loss; called under the lock. Truncated blocks may return as zeroes,
     * and cached data may be data that the device has lost.
     *
     * @param losses loss count of the device, read before the lock was acquired
     */
    private void notice(long losses) {
        long blocks = below.blockCount();
        if (blocks != knownBlocks) {
            knownBlocks = blocks;
            forgetAll();
        }
        if (losses > knownLosses) {
            knownLosses = losses;
            doubt();
        }
    }

    /** Under the lock. */
    private void doubt() {
        doubtful = true;
        doubts++;
        forgetAll();
    }

    /** Empties the cache; called under the lock. Running reads and writes are not cached either. */
    private void forgetAll() {
        marks.begin(0, ALL_PAGES);
        marks.end(0, ALL_PAGES);
        pages.removeAll(0, ALL_PAGES);
    }

    // --- losses below ---

    /** To be taken before a flush, and given to {@link #flushed} when it has succeeded. */
    long beginFlush() {
        long losses = below.writeLosses();
        lock.lock();
        try {
            notice(losses);
            return doubts;
        } finally {
            lock.unlock();
        }
    }

    /** Records a successful flush, after which data read is stable, unless a loss has occurred meanwhile. */
    void flushed(long stamp) {
        long losses = below.writeLosses();
        lock.lock();
        try {
            notice(losses);
            doubtful &= doubts != stamp;
        } finally {
            lock.unlock();
        }
    }

    /** The device has said that it may have lost writes. */
    void lost() {
        lock.lock();
        try {
            doubt();
        } finally {
            lock.unlock();
        }
    }

    // --- from a range to slots ---

    /** Copies whole pages to slots that no reader sees yet; pages that are cached already get none. */
    private int @Nullable [] fill(long lba, long blockCount, MemorySegment data, long stamp) {
        long first = Math.ceilDiv(lba, blocksPerPage);
        int count = (int) ((lba + blockCount) / blocksPerPage - first);
        if (stamp == WriteMarks.CHANGING || count <= 0) {
            return null;
        }
        long entered = gate.tryReadLock();
        if (entered == 0) {
            return null; // closed
        }
        int[] slots = null;
        try {
            slots = take(lba, blockCount, first, count, stamp);
            long at = (first * blocksPerPage - lba) * blockSize;
            for (int i = 0; slots != null && i < count; i++) {
                if (slots[i] != PageCache.NO_SLOT) {
                    pages.copyIn(slots[i], data, at + (long) i * pageBytes);
                }
            }
            return slots;
        } catch (IllegalStateException | WrongThreadException _) { // the owner has broken its word
            giveBack(slots);
            return null;
        } finally {
            gate.unlockRead(entered);
        }
    }

    private int @Nullable [] take(long lba, long blockCount, long first, int count, long stamp) {
        lock.lock();
        try {
            if (!isUnchanged(lba, blockCount, stamp)) {
                return null;
            }
            var slots = new int[count];
            for (int i = 0; i < count; i++) {
                slots[i] = pages.contains(first + i) ? PageCache.NO_SLOT : pages.take();
            }
            return slots;
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(int @Nullable [] slots) {
        lock.lock();
        try {
            for (int i = 0; slots != null && i < slots.length; i++) {
                if (slots[i] != PageCache.NO_SLOT) {
                    pages.giveBack(slots[i]);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Under the lock. */
    private void addOrGiveBack(long lba, long blockCount, int[] slots, long stamp) {
        if (!isUnchanged(lba, blockCount, stamp)) {
            giveBack(slots);
            return;
        }
        long first = Math.ceilDiv(lba, blocksPerPage);
        for (int i = 0; i < slots.length; i++) {
            if (slots[i] != PageCache.NO_SLOT) {
                pages.add(slots[i], first + i);
            }
        }
    }

    /** Frees the memory after the last copy. Later calls find the cache empty. */
    void close() {
        long _ = gate.writeLock(); // for good
        lock.lock();
        try {
            pages.removeAll(0, ALL_PAGES);
            pages.close();
        } finally {
            lock.unlock();
        }
    }
}
