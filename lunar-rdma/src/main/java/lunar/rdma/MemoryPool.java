package lunar.rdma;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Pool of slices of equal length within one registered block of memory, created by {@link ProtectionDomain#createPool}.
 * The block is allocated and registered once; taking a slice and giving it back need no system call and no allocation.
 *
 * <p>Thread-safe.
 */
public final class MemoryPool implements AutoCloseable {
    private static final int PAGE_BYTES = 4096;

    /** Registers the block of a pool. */
    @FunctionalInterface
    interface Registrar {
        MemoryRegion register(MemorySegment memory) throws RdmaException;
    }

    private final Arena arena;
    private final MemoryRegion region;
    private final List<MemorySlice> slices;
    private final long sliceBytes;

    /**
     * Free slices, the most recently used last: it is taken first, since it may still be in the CPU caches. Guarded by
     * this.
     */
    private final ArrayList<MemorySlice> free;

    /** Guarded by this. */
    private boolean closed;

    /**
     * @param sliceBytes length of a slice; slices are aligned to 64 bytes, or to a page if they are at least that long
     */
    MemoryPool(int count, long sliceBytes, Registrar registrar) throws RdmaException {
        if (count < 1 || sliceBytes < 1) {
            throw new IllegalArgumentException(count + " slices of " + sliceBytes + " bytes");
        }
        this.sliceBytes = sliceBytes;
        long align = sliceBytes >= PAGE_BYTES ? PAGE_BYTES : 64;
        long stride = Math.ceilDiv(sliceBytes, align) * align;
        arena = Arena.ofShared();
        try {
            region = registrar.register(
                    arena.allocate(Math.multiplyExact(stride, count), PAGE_BYTES));
        } catch (RdmaException | RuntimeException e) {
            arena.close();
            throw e;
        }
        var all = new ArrayList<MemorySlice>(count);
        for (int i = 0; i < count; i++) {
            all.add(new MemorySlice(region.segment().asSlice(i * stride, sliceBytes), region,
                    this::giveBack));
        }
        slices = List.copyOf(all);
        free = new ArrayList<>(slices.reversed());
    }

    /** Length of each slice. */
    public long sliceBytes() { return sliceBytes; }

    /** Number of slices, free or taken. */
    public int count() { return slices.size(); }

    /** Number of free slices. */
    public synchronized int available() { return free.size(); }

    /**
     * Takes a slice. It still has the contents of its last use.
     *
     * @throws NoSuchElementException if none is free
     */
    public MemorySlice take() {
        MemorySlice slice = tryTake();
        if (slice == null) {
            throw new NoSuchElementException("all " + count() + " slices are in use");
        }
        return slice;
    }

    /** Takes a slice; returns null if none is free. */
    public synchronized @Nullable MemorySlice tryTake() {
        if (closed) {
            throw new IllegalStateException("pool is closed");
        }
        if (free.isEmpty()) {
            return null;
        }
        MemorySlice slice = free.removeLast();
        slice.revive();
        return slice;
    }

    private synchronized void giveBack(MemorySlice slice) {
        if (!closed) {
            free.addLast(slice);
        }
    }

    /**
     * Deregisters and frees the memory. Slices that are still taken cannot be used any more. Idempotent.
     *
     * @throws MemoryInUseException if posted operations use slices; the pool remains open
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        var ended = new ArrayList<MemorySlice>();
        for (MemorySlice slice : slices) {
            if (slice.endIfIdle()) {
                ended.add(slice);
            } else if (!slice.hasEnded() || slice.posted() > 0) {
                // also if the last operation has completed since: another could be posted
                ended.forEach(MemorySlice::revive);
                throw new MemoryInUseException("pool of " + count()
                        + " slices is not closed: posted operations use one of them");
            }
        }
        closed = true;
        region.close();
        arena.close();
    }
}
