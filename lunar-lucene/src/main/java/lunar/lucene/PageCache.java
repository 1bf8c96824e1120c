package lunar.lucene;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Cache of file pages, through which all reads go. Files never change, so neither do pages; those of deleted files are
 * evicted eventually. Evicts pages used once before pages used again (CLOCK with two chances), so that a merge, which
 * reads everything once, does not evict the pages of frequent searches.
 */
final class PageCache {
    static final int PAGE_BYTES = 16 << 10;
    static final int PAGE_UNITS = PAGE_BYTES / Layout.UNIT_BYTES;

    /** Maximum number of pages being read ahead. */
    private static final int MAX_AHEAD = 256;

    private static final int MIN_PAGES = 64;

    private final Units units;
    private final ConcurrentHashMap<Page.Key, Page> pages = new ConcurrentHashMap<>();
    private final Semaphore ahead = new Semaphore(MAX_AHEAD);
    private final ReentrantLock lock = new ReentrantLock();
    /** These two are guarded by the lock. */
    private final @Nullable Page[] clock;
    private int hand;

    /** @param bytes memory for pages; at least 1 MiB */
    PageCache(Units units, long bytes) {
        this.units = units;
        this.clock = new @Nullable Page[Math.clamp(bytes / PAGE_BYTES, MIN_PAGES,
                Integer.MAX_VALUE - 8)];
    }

    /** Pages in memory now. */
    int size() { return pages.size(); }

    /** A page of a file, read on this thread if it is neither there nor in progress. */
    byte[] read(StoredFile file, long index) throws IOException {
        var key = new Page.Key(file.id, index);
        while (true) {
            Page there = pages.get(key);
            if (there == null) {
                Page mine = page(file, key);
                there = pages.putIfAbsent(key, mine);
                if (there == null) {
                    return load(file, mine);
                }
            }
            there.use();
            try {
                return there.await();
            } catch (IOException _) {
                // A read that failed for another thread may succeed now; the page was removed from the cache.
                pages.remove(key, there);
            }
        }
    }

    private byte[] load(StoredFile file, Page page) throws IOException {
        admit(page);
        try {
            long first = page.key.index() * PAGE_UNITS;
            for (int at = 0; at < page.bytes.length;) {
                UnitRun run = run(file, page, first, at);
                MemorySegment part = part(page, at, run);
                units.read(run.first(), part);
                at += (int) part.byteSize();
            }
            page.loading.complete(null);
            return page.bytes;
        } catch (StorageException | RuntimeException | Error e) {
            pages.remove(page.key, page);
            page.loading.completeExceptionally(e);
            throw e;
        }
    }

    /** Begins to read pages that will be wanted soon, as far as the device can do something meanwhile. */
    void prefetch(StoredFile file, long firstIndex, long endIndex) {
        if (units.neverWaits()) {
            return;
        }
        for (long index = firstIndex; index < endIndex; index++) {
            var key = new Page.Key(file.id, index);
            if (pages.containsKey(key)) {
                continue;
            }
            if (!ahead.tryAcquire()) {
                return;
            }
            Page page = page(file, key);
            if (pages.putIfAbsent(key, page) == null) {
                admit(page);
                submit(file, page);
            } else {
                ahead.release();
            }
        }
    }

    private void submit(StoredFile file, Page page) {
        List<CompletableFuture<Void>> reads = new ArrayList<>(1);
        long first = page.key.index() * PAGE_UNITS;
        for (int at = 0; at < page.bytes.length;) {
            UnitRun run = run(file, page, first, at);
            MemorySegment part = part(page, at, run);
            reads.add(units.submitRead(run.first(), part));
            at += (int) part.byteSize();
        }
        CompletableFuture<Void> all = reads.size() == 1
                ? reads.getFirst()
                : CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new));
        var _ = all.whenComplete((_, failure) -> {
            ahead.release();
            if (failure == null) {
                page.loading.complete(null);
            } else {
                pages.remove(page.key, page);
                page.loading.completeExceptionally(failure);
            }
        });
    }

    /** The units that hold a page from some byte on, as far as they are neighbours. */
    private static UnitRun run(StoredFile file, Page page, long firstUnit, int at) {
        return file.locate(firstUnit + at / Layout.UNIT_BYTES,
                (page.bytes.length - at) / Layout.UNIT_BYTES);
    }

    private static MemorySegment part(Page page, int at, UnitRun run) {
        return MemorySegment.ofArray(page.bytes).asSlice(at, run.count() * Layout.UNIT_BYTES);
    }

    private static Page page(StoredFile file, Page.Key key) {
        long left = file.unitCount() - key.index() * PAGE_UNITS;
        return new Page(key, (int) Math.min(left, PAGE_UNITS) * Layout.UNIT_BYTES);
    }

    /** Puts a new page into the clock, in the place of one that is not dear. */
    private void admit(Page page) {
        lock.lock();
        try {
            Page old = clock[hand];
            while (old != null && pages.get(old.key) == old && old.isDear()) {
                hand = hand + 1 == clock.length ? 0 : hand + 1;
                old = clock[hand];
            }
            if (old != null) {
                pages.remove(old.key, old);
            }
            clock[hand] = page;
            hand = hand + 1 == clock.length ? 0 : hand + 1;
        } finally {
            lock.unlock();
        }
    }

    /** Forgets all. */
    void clear() {
        lock.lock();
        try {
            Arrays.fill(clock, null);
            pages.clear();
        } finally {
            lock.unlock();
        }
    }
}
