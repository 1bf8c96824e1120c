package lunar.raid.metadata.checksum;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import lunar.block.BlockRequest;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.Waiter;
import lunar.raid.metadata.page.WaiterQueue;
import org.jspecify.annotations.Nullable;

/**
 * Caches pages of a member's checksums, up to its capacity. Changed pages are written in rounds, each of all pages that
 * are changed when it begins: for a flush, which waits for it, where there is no room for others, and when half of all
 * are not stable. Failures go to the requests that wait, as if the member's data had failed; a page that cannot be read
 * says nothing of its blocks.
 *
 * <p>A page is stable when a flush has succeeded that began after its write had ended, and goes only then: a round that
 * is to make room flushes the member itself. When the member has lost writes, no checksum is known any more of blocks
 * that were written, or whose checksums were, since they were stable last.
 *
 * <p>A request gets all its pages at once, first come, first served: so none waits for another one that waits.
 */
final class ChecksumCache {
    /** The default capacity, in pages of a member: 16 MiB. */
    static final int CAPACITY = 4096;
    private static final int WRITES_AT_ONCE = 16;

    /** Sends a request to the member: queued, or executed by this thread. */
    @FunctionalInterface
    interface Way {
        void go(BlockRequest request);
    }

    /** What a round is at. */
    private enum Phase {
        NONE, WRITING, FLUSH_DUE, FLUSHING, OVER
    }

    /** A request for a page, or a flush that makes pages stable. */
    private final class PageIo implements BlockRequest.Completion {
        private final BlockRequest request = new BlockRequest().onCompletion(this);
        private final Page copy = new Page();
        private ChecksumPage page = new ChecksumPage();
        private Way way = _ -> {};
        private long flush;

        void prepareFlush(long number) {
            flush = number;
            request.asFlush();
        }

        void prepare(ChecksumPage of, boolean writes) {
            page = of;
            long lba = area.pageAtBytes(of.number) / area.blockSize();
            int blocks = Page.BYTES / area.blockSize();
            if (writes) {
                copy.segment().copyFrom(of.page.segment());
                area.seal(copy, of.number);
                request.asWrite(lba, blocks, copy.segment(), false);
            } else {
                request.asRead(lba, blocks, of.page.segment());
            }
        }

        @Override
        public void completed(BlockRequest ended, @Nullable StorageException failure) {
            long lost = losses.getAsLong();
            synchronized (ChecksumCache.this) {
                switch (request.operation()) {
                    case FLUSH -> {
                        flushed(flush, failure, lost);
                        roundFailure = failure;
                        phase = Phase.OVER;
                    }
                    case WRITE -> written(page, failure);
                    default -> loaded(page, failure);
                }
                freeIos.push(this);
            }
            advance(way);
        }
    }

    private final ChecksumArea area;
    private final int capacity;
    /** How often the member has lost writes; asked without the lock. */
    private final LongSupplier losses;
    /** Guarded by this, as all below; the one that was used longest ago comes first. */
    private final Map<Long, ChecksumPage> pages = new LinkedHashMap<>(16, 0.75f, true);
    private final ArrayDeque<ChecksumPage> freePages = new ArrayDeque<>();
    private final ArrayDeque<PageIo> freeIos = new ArrayDeque<>();
    private final ArrayDeque<ChecksumPage> toLoad = new ArrayDeque<>();
    private final ArrayDeque<ChecksumPage> toWrite = new ArrayDeque<>();
    /** Requests that wait for room. */
    private final WaiterQueue waiting = new WaiterQueue();
    /** Requests that wait for the next round, and for the one under way. */
    private final WaiterQueue gathering = new WaiterQueue();
    private final WaiterQueue flying = new WaiterQueue();
    private final WaiterQueue ready = new WaiterQueue();
    /** Pages that are not stable. */
    private int unstable;
    private int writing;
    private Phase phase = Phase.NONE;
    /** Flushes that have begun, and those under way. */
    private long flushes;
    private int flushing;
    /** Losses that are accounted for, and how often checksums were forgotten because of one. */
    private long knownLosses;
    private long doubts;
    private boolean hasFailed;
    private @Nullable StorageException roundFailure;
    private boolean draining;

    /**
     * An empty cache.
     *
     * @param capacity pages at most; at least twice those of the longest request
     * @param losses how often the member has lost writes ({@link lunar.block.BlockDevice#writeLosses})
     */
    ChecksumCache(ChecksumArea area, int capacity, LongSupplier losses) {
        this.area = area;
        this.capacity = capacity;
        this.losses = losses;
        knownLosses = losses.getAsLong();
    }

    // --- for requests ---

    /** Whether all pages of a request are there, and stay until it is released; if not, it is told. */
    boolean acquire(ChecksumRequest request, Way way) {
        long lost = losses.getAsLong();
        synchronized (this) {
            notice(lost);
            request.doubts = doubts;
            if (!waiting.isEmpty() || !grant(request)) {
                waiting.add(request);
            } else if (request.lacking == 0) {
                return true;
            }
        }
        advance(way);
        return false;
    }

    /** The request is told when all that is changed now has been written. */
    void flush(ChecksumRequest request, Way way) {
        synchronized (this) {
            gathering.add(request);
        }
        advance(way);
    }

    /** The member is flushed, and all that was written to it is stable if it succeeds; returns the flush's number. */
    synchronized long beginFlush() {
        flushing++;
        return ++flushes;
    }

    /** A flush of the member has ended. */
    void endFlush(long flush, @Nullable StorageException failure, Way way) {
        long lost = losses.getAsLong();
        synchronized (this) {
            flushed(flush, failure, lost);
        }
        advance(way);
    }

    /** The member has lost writes: what may be among them is not known any more. */
    synchronized void forget() {
        doubts++;
        if (unstable > 0) {
            pages.values().forEach(ChecksumPage::forget);
        }
    }

    /** A request needs its pages no more. */
    void release(ChecksumRequest request, Way way) {
        boolean isAwaited;
        synchronized (this) {
            for (int i = 0; i < request.pages.size(); i++) {
                request.pages.get(i).pins--;
            }
            request.pages.clear();
            isAwaited = !waiting.isEmpty() || isCrowded();
        }
        if (isAwaited) {
            advance(way);
        }
    }

    /**
     * Its blocks have these checksums from now on; UNKNOWN where nothing is known any more, as of all blocks if the
     * member has lost writes while they were under way.
     */
    void put(ChecksumRequest request, int[] checksums) {
        long lost = losses.getAsLong();
        synchronized (this) {
            notice(lost);
            boolean isCertain = request.doubts == doubts;
            for (int i = 0; i < request.blocks; i++) {
                put(request.pageOf(i), request.block + i,
                        isCertain ? checksums[i] : ChecksumFormat.UNKNOWN);
            }
        }
    }

    private void put(ChecksumPage page, long block, int checksum) {
        page.checksum(block, checksum);
        count(page);
    }

    /**
     * Compares what was read.
     *
     * @param adopts whether what is not known is taken for right, unless the member has lost writes meanwhile
     * @return the first block of the request that has another checksum; -1 where none has
     */
    int check(ChecksumRequest request, int[] checksums, boolean adopts) {
        long lost = losses.getAsLong();
        synchronized (this) {
            notice(lost);
            for (int i = 0; i < request.blocks; i++) {
                int known = request.pageOf(i).checksum(request.block + i);
                if (known != ChecksumFormat.UNKNOWN && known != checksums[i]) {
                    return i;
                }
            }
            boolean isCertain = request.doubts == doubts;
            for (int i = 0; adopts && isCertain && i < request.blocks; i++) {
                put(request.pageOf(i), request.block + i, checksums[i]);
            }
            return -1;
        }
    }

    /** Pages in memory. */
    synchronized int size() { return pages.size(); }

    // --- pages ---

    private boolean grant(ChecksumRequest request) {
        int absent = 0;
        for (long number = request.firstPage(); number <= request.lastPage(); number++) {
            ChecksumPage page = pages.get(number);
            if (page == null) {
                absent++;
            } else {
                page.pins++;
            }
        }
        boolean fits = makeRoom(pages.size() + absent - capacity);
        for (long number = request.firstPage(); number <= request.lastPage(); number++) {
            ChecksumPage page = pages.get(number);
            if (!fits) {
                if (page != null) {
                    page.pins--;
                }
                continue;
            }
            if (page == null) {
                ChecksumPage free = freePages.poll();
                page = (free == null ? new ChecksumPage() : free).reset(number);
                page.pins++;
                pages.put(number, page);
                toLoad.add(page);
            }
            request.pages.add(page);
            if (!page.isLoaded) {
                page.waiters.add(request);
                request.lacking++;
            }
        }
        return fits;
    }

    private boolean makeRoom(int count) {
        int left = count;
        var all = left > 0 ? pages.values().iterator() : null;
        while (left > 0 && all != null && all.hasNext()) {
            ChecksumPage page = all.next();
            if (page.mayGo()) {
                all.remove();
                freePages.push(page);
                left--;
            }
        }
        return left <= 0;
    }

    private void loaded(ChecksumPage page, @Nullable StorageException failure) {
        boolean isUnreadable = failure instanceof MediumException;
        if (failure != null && !isUnreadable) {
            page.failure = failure;
            pages.remove(page.number);
        } else if (isUnreadable || !area.isMine(page.page, page.number)) {
            page.page.clear();
        }
        page.isLoaded = true;
        for (int i = 0; i < page.waiters.size(); i++) {
            ChecksumRequest request = page.waiters.get(i);
            request.why = request.why == null ? page.failure : request.why;
            request.lacking--;
            if (request.lacking == 0) {
                ready.add(request);
            }
        }
        page.waiters.clear();
    }

    private void written(ChecksumPage page, @Nullable StorageException failure) {
        writing--;
        page.endWrite(failure == null, flushes);
        count(page);
        roundFailure = failure == null ? roundFailure : failure;
    }

    private void flushed(long flush, @Nullable StorageException failure, long lost) {
        flushing--;
        notice(lost);
        if (failure instanceof LostWritesException) {
            forget();
        }
        boolean isFinal = failure == null || !failure.retryable(); // else it is sent again
        if (unstable == 0 || !isFinal) {
            return;
        }
        for (ChecksumPage page : pages.values()) {
            if (failure == null) {
                page.flushed(flush);
            } else {
                page.writeAgain();
            }
            count(page);
        }
    }

    /** Takes account of losses that the member has counted. */
    private void notice(long lost) {
        if (lost > knownLosses) {
            knownLosses = lost;
            forget();
        }
    }

    private void count(ChecksumPage page) {
        boolean counts = !page.isStable();
        if (counts != page.isCounted) {
            page.isCounted = counts;
            unstable += counts ? 1 : -1;
        }
    }

    // --- what is to be done ---

    /** Performs the pending steps. Only one thread at a time does so; it takes over the steps of others. */
    private void advance(Way way) {
        synchronized (this) {
            if (draining) {
                return;
            }
            draining = true;
        }
        boolean more = true;
        while (more) {
            more = step(way);
        }
    }

    private boolean step(Way way) {
        Waiter told;
        PageIo io = null;
        StorageException why = null;
        synchronized (this) {
            told = ready.poll();
            if (told instanceof ChecksumRequest request) {
                why = request.why;
            } else {
                io = nextIo();
                if (io == null && !decide()) {
                    draining = false;
                    return false;
                }
            }
        }
        if (told != null) {
            told.stable(why);
        } else if (io != null) {
            io.way = way;
            way.go(io.request);
        }
        return true;
    }

    private @Nullable PageIo nextIo() {
        boolean mayWrite = phase == Phase.WRITING && writing < WRITES_AT_ONCE
                && !toWrite.isEmpty();
        if (toLoad.isEmpty() && !mayWrite && phase != Phase.FLUSH_DUE) {
            return null;
        }
        PageIo free = freeIos.poll();
        PageIo io = free == null ? new PageIo() : free;
        if (!toLoad.isEmpty()) {
            io.prepare(toLoad.remove(), false);
        } else if (mayWrite) {
            ChecksumPage page = toWrite.remove();
            page.beginWrite();
            writing++;
            io.prepare(page, true);
        } else {
            phase = Phase.FLUSHING;
            io.prepareFlush(beginFlush());
        }
        return io;
    }

    /** Goes on where that is possible. */
    private boolean decide() {
        if (phase == Phase.WRITING && toWrite.isEmpty() && writing == 0) {
            boolean makesRoom = flying.isEmpty() && roundFailure == null; // else flushes follow
            phase = makesRoom ? Phase.FLUSH_DUE : Phase.OVER;
            return true;
        }
        if (phase == Phase.OVER) {
            endRound();
            return true;
        }
        boolean lacksRoom = false;
        if (waiting.first() instanceof ChecksumRequest first) {
            if (grant(first)) {
                waiting.poll();
                if (first.lacking == 0) {
                    ready.add(first);
                }
                return true;
            }
            lacksRoom = true;
        }
        boolean wantsRoom = (lacksRoom && unstable > 0) || (isCrowded() && !hasFailed);
        if (phase == Phase.NONE && (!gathering.isEmpty() || (wantsRoom && flushing == 0))) {
            beginRound();
            return true;
        }
        return false;
    }

    private boolean isCrowded() { return unstable > capacity / 2; }

    private void beginRound() {
        phase = Phase.WRITING;
        roundFailure = null;
        flying.takeAll(gathering);
        if (unstable == 0) {
            return;
        }
        for (ChecksumPage page : pages.values()) {
            if (page.isDirty()) {
                toWrite.add(page);
            }
        }
    }

    private void endRound() {
        phase = Phase.NONE;
        hasFailed = roundFailure != null;
        tell(flying);
        if (hasFailed) { // nor is there room
            tell(waiting);
        }
    }

    private void tell(WaiterQueue line) {
        while (line.poll() instanceof ChecksumRequest request) {
            request.why = roundFailure;
            ready.add(request);
        }
    }
}
