package lunar.filter;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.StampedLock;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.LostWritesException;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import org.jspecify.annotations.Nullable;

/**
 * Caches blocks in memory, and reads ahead of sequential readers: {@code cache=64MiB:iscsi://…},
 * {@code cache=64MiB,policy=lru,read-ahead=1MiB,page=4KiB:file:disk.img}.
 *
 * <p><b>Semantics.</b> Write-through: writes, flushes and FUA have the guarantees of the device below, and a crash
 * loses no data. A read from memory returns a consistent state of the device below at some time between its start and
 * its end. This requires that all changes go through the filter: it is not suitable for a disk that others write, such
 * as in a cluster. While the device below may be in use by another process ({@link BlockDevice#isCurrent}), reads go to
 * the device.
 *
 * <p><b>Consistency.</b> A change removes its pages from the cache before it is passed on, and caches written data only
 * if it has succeeded and no other change of these pages was in progress meanwhile. Data read is cached only if no
 * change of it was in progress when the read began, and none has begun since. A failed change leaves nothing in the
 * cache. The cache is emptied when the size of the device changes, by {@link #eraseKey}, and when acknowledged writes
 * may be lost ({@link BlockDevice#writeLosses}, {@link LostWritesException}); in the last case nothing is cached until
 * a flush has succeeded, because until then the device may return data that it has not stored.
 *
 * <p>A read is answered from memory if all its pages are cached; otherwise all of it is read from the device, extended
 * to whole pages if it is short. It waits for a read-ahead in progress that covers its pages, because reading them
 * again would not be faster; if that fails, the read goes to the device itself. Reads and writes that would fill more
 * than a quarter of the cache bypass it. There is no read-ahead for a device that never waits for a medium.
 *
 * <p>Memory: the capacity, eight read-ahead buffers, and 64 buffers for short reads, each allocated on first use; and
 * about 50 bytes per page. Submit never waits: one lock guards the index, is held for some hundred nanoseconds, and
 * never while data is copied.
 */
public final class CacheFilter extends Filter {
    /** Read-aheads that one read waits for before it goes below itself. */
    private static final int MAX_JOINS = 4;
    private static final int SHORT_READS = 64;
    private static final int SHORT_READ_BYTES = 32 << 10;

    /**
     * Statistics of a cache.
     *
     * @param hits reads answered from memory
     * @param joins waits of reads for a read-ahead
     * @param misses reads that went below
     * @param readAheads read-aheads, not requested by the user
     * @param evictedPages evicted pages
     * @param heldPages pages currently in the cache
     */
    public record Statistics(long hits, long joins, long misses, long readAheads,
            long evictedPages, long heldPages) {
        /** Reads answered from memory, of all; 0 where there were none. */
        public double hitRatio() {
            return hits + misses == 0 ? 0 : hits / (double) (hits + misses);
        }
    }

    private final CacheOptions options;
    private final CachedBlocks blocks;
    private final @Nullable ReadAhead readAhead;
    private final StagingBuffers shortReads;
    private final LongAdder hits = new LongAdder();
    private final LongAdder joins = new LongAdder();
    private final LongAdder misses = new LongAdder();
    /** Held shared while a request executes, exclusively at the end of close. */
    private final StampedLock executing = new StampedLock();
    private volatile boolean closed;

    /**
     * A filter that owns the device below.
     *
     * @throws IllegalArgumentException if a page is smaller than a block
     */
    public CacheFilter(BlockDevice below, CacheOptions options) {
        super(below, Set.of(Capability.TRANSFER_TO));
        this.options = options;
        blocks = new CachedBlocks(below, options);
        shortReads = new StagingBuffers(SHORT_READS,
                Math.max(SHORT_READ_BYTES, 2L * options.pageBytes()));
        long aheadBytes = Math.min(options.readAheadBytes(),
                (long) below.limits().maxTransferBlocks() * below.blockSize());
        readAhead = aheadBytes < options.pageBytes() || below.supports(Capability.NON_BLOCKING)
                ? null
                : new ReadAhead(below, blocks, aheadBytes);
    }

    /** Returns the statistics so far. */
    public Statistics statistics() {
        return new Statistics(hits.sum(), joins.sum(), misses.sum(),
                readAhead == null ? 0 : readAhead.count(), blocks.evictedPages(),
                blocks.heldPages());
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        long entered = executing.readLock();
        try {
            requireOpen(request);
            RequestValidation.check(request, this);
            if (request.operation() == BlockRequest.Operation.FLUSH) {
                executeFlush(request);
            } else if (request.blockCount() == 0) {
                below().execute(request);
            } else if (request.operation() == BlockRequest.Operation.READ) {
                executeRead(request);
            } else {
                executeChange(request);
            }
        } finally {
            executing.unlockRead(entered);
        }
    }

    @Override
    public void submit(BlockRequest request) {
        try {
            requireOpen(request);
            RequestValidation.check(request, this);
        } catch (StorageException e) {
            RequestCompletion.fail(request, e);
            return;
        }
        if (request.operation() == BlockRequest.Operation.FLUSH) {
            submitFlush(request);
        } else if (request.blockCount() == 0) {
            below().submit(request);
        } else if (request.operation() == BlockRequest.Operation.READ) {
            submitRead(request, 0);
        } else {
            submitChange(request);
        }
    }

    private void requireOpen(BlockRequest request) throws DeviceGoneException {
        if (closed) {
            throw gone(request);
        }
    }

    private DeviceGoneException gone(BlockRequest request) {
        return new DeviceGoneException(request + ": " + this + " is closed");
    }

    // --- changes ---

    private void executeChange(BlockRequest request) throws StorageException {
        long stamp = blocks.beginChange(request.lba(), request.blockCount());
        MemorySegment data = null;
        try {
            below().execute(request);
            data = written(request);
        } catch (LostWritesException e) { // it was one with FUA
            blocks.lost();
            throw e;
        } finally {
            blocks.endChange(request.lba(), request.blockCount(), data, stamp);
        }
    }

    private void submitChange(BlockRequest request) {
        long stamp = blocks.beginChange(request.lba(), request.blockCount());
        passOn(request, (_, failure) -> {
            blocks.endChange(request.lba(), request.blockCount(),
                    failure == null ? written(request) : null, stamp);
            noticeLoss(failure);
            RequestCompletion.complete(request, failure);
        });
    }

    private void noticeLoss(@Nullable StorageException failure) {
        if (failure instanceof LostWritesException) {
            blocks.lost();
        }
    }

    private void executeFlush(BlockRequest request) throws StorageException {
        long stamp = blocks.beginFlush();
        try {
            below().execute(request);
        } catch (LostWritesException e) {
            blocks.lost();
            throw e;
        }
        blocks.flushed(stamp);
    }

    private void submitFlush(BlockRequest request) {
        long stamp = blocks.beginFlush();
        passOn(request, (_, failure) -> {
            noticeLoss(failure);
            if (failure == null) {
                blocks.flushed(stamp);
            }
            RequestCompletion.complete(request, failure);
        });
    }

    private static @Nullable MemorySegment written(BlockRequest request) {
        return switch (request.operation()) {
            case WRITE -> request.buffer();
            case COMPARE_AND_WRITE -> request.buffer().asSlice(request.buffer().byteSize() / 2);
            case READ, FLUSH, UNMAP, WRITE_ZEROES -> null;
        };
    }

    // --- reads: from memory, from a read-ahead that is in progress, from below ---

    private void executeRead(BlockRequest request) throws StorageException {
        for (int tries = 0;; tries++) {
            requireOpen(request);
            int[] slots = pin(request);
            if (slots != null) {
                StorageException failure = copyOut(request, slots);
                lookAhead(request, tries);
                if (failure != null) {
                    throw failure;
                }
                return;
            }
            ReadAhead.Fetch fetch = bringing(request, tries);
            if (readAhead == null || fetch == null) {
                executeBelow(request);
                lookAhead(request, tries);
                return;
            }
            lookAhead(request, tries);
            try {
                readAhead.await(fetch);
            } catch (InterruptedException _) { // the device below handles the interrupt
                Thread.currentThread().interrupt();
                tries = MAX_JOINS;
            }
        }
    }

    private void submitRead(BlockRequest request, int tries) {
        if (closed) { // since it began to wait
            RequestCompletion.fail(request, gone(request));
            return;
        }
        int[] slots = pin(request);
        if (slots != null) {
            StorageException failure = copyOut(request, slots);
            lookAhead(request, tries);
            RequestCompletion.complete(request, failure);
            return;
        }
        ReadAhead.Fetch fetch = bringing(request, tries);
        if (readAhead == null || fetch == null) {
            long lba = request.lba(); // the request may have ended, and be another one, before this thread is back
            long blockCount = request.blockCount();
            submitBelow(request);
            lookAhead(lba, blockCount, tries);
            return;
        }
        lookAhead(request, tries);
        if (!readAhead.after(fetch, () -> submitRead(request, tries + 1))) {
            submitRead(request, tries + 1);
        }
    }

    /** Returns the pages of a read; null if some are missing, or if the cache may be outdated. */
    private int @Nullable [] pin(BlockRequest request) {
        return below().isCurrent() ? blocks.pin(request.lba(), request.blockCount()) : null;
    }

    /** {@inheritDoc} Handled as a change without effect, so that concurrent reads are not cached. */
    @Override
    public void forget(long lba, long blockCount) {
        long stamp = blocks.beginChange(lba, blockCount);
        blocks.endChange(lba, blockCount, null, stamp);
        super.forget(lba, blockCount);
    }

    /** Copies pinned pages to where they belong. */
    private @Nullable StorageException copyOut(BlockRequest request, int[] slots) {
        try {
            if (!blocks.copyOut(slots, request.lba(), request.buffer())) {
                return gone(request);
            }
            hits.increment();
            return null;
        } catch (IllegalStateException | WrongThreadException e) {
            return unusable(request, e);
        }
    }

    private static InvalidRequestException unusable(BlockRequest request, RuntimeException e) {
        return new InvalidRequestException(
                request + ": the buffer cannot be used: " + e.getMessage(), e);
    }

    private ReadAhead.@Nullable Fetch bringing(BlockRequest request, int tries) {
        if (readAhead == null || tries >= MAX_JOINS) {
            return null;
        }
        long first = blocks.pageOf(request.lba());
        long end = blocks.endPage(request.lba(), request.blockCount());
        long missing = blocks.firstMissing(first, end);
        ReadAhead.Fetch fetch = missing == end ? null : readAhead.bringing(missing);
        if (fetch != null) {
            joins.increment();
        }
        return fetch;
    }

    private void lookAhead(BlockRequest request, int tries) {
        lookAhead(request.lba(), request.blockCount(), tries);
    }

    /** Called once per read, after it was submitted or answered, so that read-ahead does not delay it. */
    private void lookAhead(long lba, long blockCount, int tries) {
        if (readAhead != null && tries == 0 && !closed) {
            readAhead.read(lba, blockCount);
        }
    }

    private void executeBelow(BlockRequest request) throws StorageException {
        misses.increment();
        Extended read = extended(request);
        if (read != null) {
            long stamp = blocks.stamp(read.pages.lba(), read.pages.blockCount());
            try {
                if (isDone(read.pages)) {
                    StorageException failure = takePart(request, read.pages, stamp);
                    if (failure != null) {
                        throw failure;
                    }
                    return;
                }
            } finally {
                shortReads.giveBack(read.room);
            }
        }
        long stamp = blocks.stamp(request.lba(), request.blockCount());
        below().execute(request);
        blocks.keep(request.lba(), request.blockCount(), request.buffer(), stamp);
    }

    /** A page may be unreadable where the blocks asked for are not: then these are read alone. */
    private boolean isDone(BlockRequest pages) {
        try {
            below().execute(pages);
            return true;
        } catch (StorageException _) {
            return false;
        }
    }

    private void submitBelow(BlockRequest request) {
        misses.increment();
        Extended read = extended(request);
        if (read == null) {
            submitAsIs(request);
            return;
        }
        long stamp = blocks.stamp(read.pages.lba(), read.pages.blockCount());
        below().submit(read.pages.onCompletion((pages, failure) -> {
            StorageException wrong = failure == null ? takePart(request, pages, stamp) : failure;
            shortReads.giveBack(read.room);
            if (failure == null) {
                RequestCompletion.complete(request, wrong);
            } else {
                submitAsIs(request);
            }
        }));
    }

    private void submitAsIs(BlockRequest request) {
        long stamp = blocks.stamp(request.lba(), request.blockCount());
        passOn(request, (_, failure) -> {
            if (failure == null) {
                blocks.keep(request.lba(), request.blockCount(), request.buffer(), stamp);
            }
            RequestCompletion.complete(request, failure);
        });
    }

    /** A read of all pages that a request touches, and the buffer of ours that it fills a part of. */
    private record Extended(BlockRequest pages, MemorySegment room) {}

    /** Null where a request fills its pages, or they cannot be read as a whole. */
    private @Nullable Extended extended(BlockRequest request) {
        int perPage = blocks.blocksPerPage();
        if (request.lba() % perPage == 0 && request.blockCount() % perPage == 0) {
            return null;
        }
        long end = blocks.endPage(request.lba(), request.blockCount());
        long lba = blocks.pageOf(request.lba()) * perPage;
        long count = end * perPage - lba;
        if (count * blockSize() > shortReads.bytes() || count > limits().maxTransferBlocks()
                || end > blocks.pageCount()) {
            return null;
        }
        MemorySegment room = shortReads.take();
        return room == null
                ? null
                : new Extended(new BlockRequest().asRead(lba, count,
                        room.asSlice(0, count * blockSize())), room);
    }

    private @Nullable StorageException takePart(BlockRequest request, BlockRequest pages,
            long stamp) {
        blocks.keep(pages.lba(), pages.blockCount(), pages.buffer(), stamp);
        try {
            MemorySegment.copy(pages.buffer(), (request.lba() - pages.lba()) * blockSize(),
                    request.buffer(), 0, request.buffer().byteSize());
            return null;
        } catch (IllegalStateException | WrongThreadException e) {
            return unusable(request, e);
        }
    }

    // --- the device as a whole ---

    @Override
    public void refresh() throws StorageException {
        super.refresh();
        blocks.lookAtSize();
    }

    @Override
    public void grow(long blockCount) throws StorageException {
        super.grow(blockCount);
        blocks.lookAtSize();
    }

    @Override
    public void eraseKey() throws StorageException {
        blocks.beginChangeOfAll();
        try {
            super.eraseKey();
        } finally {
            blocks.endChangeOfAll();
        }
    }

    @Override
    public void close() throws StorageException {
        boolean first;
        synchronized (this) {
            first = !closed;
            closed = true;
        }
        try {
            super.close(); // ends what is in flight below, and so every wait for it
        } finally {
            if (first) {
                long stamp = executing.writeLock();
                blocks.close();
                executing.unlockWrite(stamp);
            }
        }
    }

    @Override
    public String toString() {
        return "cache of " + Size.format(options.capacityBytes()) + " over " + below();
    }
}
