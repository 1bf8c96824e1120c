package lunar.filter;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Reads ahead for a cache: detects sequential readers ({@link Streams}) and tracks its own reads that are in flight.
 * Thread-safe; no more than {@link #MAX_FETCHES} are in flight at once.
 */
final class ReadAhead {
    static final int MAX_FETCHES = 8;

    private static final System.Logger LOG = System.getLogger("lunar.block");

    /** A read-ahead of whole pages that is in flight. */
    static final class Fetch {
        private final long lba;
        private final long blockCount;
        private final long stamp;
        private final MemorySegment buffer;
        /** Actions to run when it has ended; null once it has. Guarded by the lock of the read-ahead. */
        private @Nullable List<Runnable> waiting = new ArrayList<>();

        private Fetch(long lba, long blockCount, long stamp, MemorySegment buffer) {
            this.lba = lba;
            this.blockCount = blockCount;
            this.stamp = stamp;
            this.buffer = buffer;
        }
    }

    private final BlockDevice below;
    private final CachedBlocks blocks;
    private final long maxPages;
    private final StagingBuffers buffers;
    /** Guards all that follows. */
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    private final Streams streams;
    private final List<Fetch> fetches = new ArrayList<>();
    private long count;

    ReadAhead(BlockDevice below, CachedBlocks blocks, long maxBytes) {
        this.below = below;
        this.blocks = blocks;
        maxPages = maxBytes / blocks.pageBytes();
        streams = new Streams(maxPages * blocks.blocksPerPage());
        buffers = new StagingBuffers(MAX_FETCHES, maxPages * blocks.pageBytes());
    }

    /** Fetches so far. */
    long count() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the fetch in progress that will provide a page in its current state; null if there is none. */
    @Nullable
    Fetch bringing(long page) {
        long lba = page * blocks.blocksPerPage();
        lock.lock();
        try {
            for (Fetch fetch : fetches) {
                if (lba >= fetch.lba && lba < fetch.lba + fetch.blockCount) {
                    return blocks.isUnchanged(fetch.lba, fetch.blockCount, fetch.stamp)
                            ? fetch
                            : null;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Goes on after a fetch, on the thread that ends it; false if it has ended already. */
    boolean after(Fetch fetch, Runnable next) {
        lock.lock();
        try {
            return fetch.waiting != null && fetch.waiting.add(next);
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the end of a fetch. */
    void await(Fetch fetch) throws InterruptedException {
        lock.lock();
        try {
            while (fetch.waiting != null) {
                ended.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Handles a read that was submitted or has completed: fetches blocks that the next one is likely to need. */
    void read(long lba, long blockCount) {
        Fetch fetch = next(lba, blockCount);
        if (fetch != null) {
            below.submit(new BlockRequest()
                    .asRead(fetch.lba, fetch.blockCount,
                            fetch.buffer.asSlice(0, fetch.blockCount * below.blockSize()))
                    .onCompletion((request, failure) -> end(fetch, request, failure)));
        }
    }

    private @Nullable Fetch next(long lba, long blockCount) {
        int perPage = blocks.blocksPerPage();
        long pageCount = blocks.pageCount();
        lock.lock();
        try {
            Streams.Ahead ahead = streams.read(lba, blockCount, pageCount * perPage,
                    !buffers.isEmpty());
            if (ahead == null) {
                return null;
            }
            long end = Math.min(blocks.endPage(ahead.lba(), ahead.blockCount()), pageCount);
            long first = blocks.firstMissing(blocks.pageOf(ahead.lba()), end);
            while (first < end && bringing(first) != null) {
                first++;
            }
            end = Math.min(end, first + maxPages);
            long stamp = first < end
                    ? blocks.stamp(first * perPage, (end - first) * perPage)
                    : WriteMarks.CHANGING;
            MemorySegment buffer = stamp == WriteMarks.CHANGING ? null : buffers.take();
            if (buffer == null) {
                return null;
            }
            var fetch = new Fetch(first * perPage, (end - first) * perPage, stamp, buffer);
            fetches.add(fetch);
            count++;
            return fetch;
        } finally {
            lock.unlock();
        }
    }

    private static void goOn(Runnable next) {
        try {
            next.run();
        } catch (RuntimeException | Error e) { // a completion must not throw; others wait for this thread, too
            LOG.log(System.Logger.Level.ERROR,
                    "completion of a read that waited for a read-ahead failed", e);
        }
    }

    private void end(Fetch fetch, BlockRequest request, @Nullable StorageException failure) {
        if (failure == null) {
            blocks.keep(fetch.lba, fetch.blockCount, request.buffer(), fetch.stamp);
        }
        List<Runnable> waiting;
        lock.lock();
        try {
            waiting = fetch.waiting == null ? List.of() : fetch.waiting;
            fetch.waiting = null;
            fetches.remove(fetch);
            ended.signalAll();
        } finally {
            lock.unlock();
        }
        buffers.giveBack(fetch.buffer);
        waiting.forEach(ReadAhead::goOn);
    }
}
