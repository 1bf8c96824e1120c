package lunar.store;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicReferenceArray;
import lunar.block.NoSpaceException;
import lunar.block.Size;
import org.jspecify.annotations.Nullable;

/**
 * The chunks of a memory device, in a two-level directory whose second level is created on demand. The caller holds the
 * lock of the chunk: shared for {@link #find}, exclusive for {@link #obtain} and {@link #release}. The existence of a
 * chunk may be queried without the lock, but the result may be outdated.
 */
final class MemoryChunks implements AutoCloseable {
    private static final int CHUNK_SHIFT = 18;
    private static final int LEAF_SHIFT = 12;
    static final long CHUNK_BYTES = 1L << CHUNK_SHIFT;

    /** A chunk that was never written. */
    static final MemorySegment ZEROES = Arena.global().allocate(CHUNK_BYTES, 4096).asReadOnly();

    private final Arena arena = Arena.ofShared();
    /** Replaced by {@link #grow} only, while no request is at work. */
    private volatile AtomicReferenceArray<@Nullable MemorySegment @Nullable []> leaves;
    /**
     * Chunks given back by unmap, with old content. They wait for the next writer: memory of a shared arena
     * cannot be returned piece by piece at a bearable price. Guarded by itself, like {@link #allocatedChunks}.
     */
    private final ArrayDeque<MemorySegment> free = new ArrayDeque<>();
    private long allocatedChunks;
    private volatile long chunkCount;
    private final long maxChunks;

    /** @param maxBytes memory for chunks, given back ones included */
    MemoryChunks(long sizeBytes, long maxBytes) {
        chunkCount = (sizeBytes + CHUNK_BYTES - 1) >>> CHUNK_SHIFT;
        maxChunks = maxBytes >>> CHUNK_SHIFT;
        leaves = new AtomicReferenceArray<>(leafCount(sizeBytes));
    }

    private static int leafCount(long sizeBytes) {
        return (int) Math.ceilDiv(sizeBytes, CHUNK_BYTES << LEAF_SHIFT);
    }

    /** Grows the directory for more chunks; the caller holds the locks of all chunks. */
    void grow(long sizeBytes) {
        var more = new AtomicReferenceArray<@Nullable MemorySegment @Nullable []>(
                leafCount(sizeBytes));
        for (int i = 0; i < leaves.length(); i++) {
            more.set(i, leaves.get(i));
        }
        leaves = more;
        chunkCount = Math.ceilDiv(sizeBytes, CHUNK_BYTES);
    }

    static long indexOf(long offsetBytes) { return offsetBytes >>> CHUNK_SHIFT; }

    static long offsetOf(long offsetBytes) { return offsetBytes & (CHUNK_BYTES - 1); }

    static long bytesToNextLeaf(long offsetBytes) {
        long leafBytes = CHUNK_BYTES << LEAF_SHIFT;
        return leafBytes - (offsetBytes & (leafBytes - 1));
    }

    /** Whether no chunk near this one was ever written, so that a whole leaf can be skipped. */
    boolean isEmptyAround(long index) {
        return leaves.get((int) (index >>> LEAF_SHIFT)) == null;
    }

    @Nullable
    MemorySegment find(long index) {
        @Nullable
        MemorySegment @Nullable [] leaf = leaves.get((int) (index >>> LEAF_SHIFT));
        return leaf == null ? null : leaf[slot(index)];
    }

    /** Where the run of present or absent chunks ends that this one belongs to. Needs no locks. */
    long endOfRun(long index, boolean present) {
        long next = index + 1;
        while (next < chunkCount && present == (find(next) != null)) {
            next = isEmptyAround(next) ? ((next >>> LEAF_SHIFT) + 1) << LEAF_SHIFT : next + 1;
        }
        return Math.min(next, chunkCount);
    }

    /** Obtains all chunks of a range or none: if memory is short, chunks allocated so far are released. */
    void obtainAll(long offsetBytes, long countBytes) throws NoSpaceException {
        long first = indexOf(offsetBytes);
        BitSet fresh = null; // made where a chunk is, which costs far more
        try {
            for (long index = first; index * CHUNK_BYTES < offsetBytes + countBytes; index++) {
                if (find(index) == null) {
                    MemorySegment _ = obtain(index);
                    fresh = fresh == null ? new BitSet() : fresh;
                    fresh.set((int) (index - first));
                }
            }
        } catch (NoSpaceException e) {
            if (fresh != null) {
                fresh.stream().forEach(chunk -> release(first + chunk));
            }
            throw e;
        }
    }

    MemorySegment obtain(long index) throws NoSpaceException {
        int leafIndex = (int) (index >>> LEAF_SHIFT);
        @Nullable
        MemorySegment @Nullable [] leaf = leaves.get(leafIndex);
        if (leaf == null) {
            var fresh = new @Nullable MemorySegment[1 << LEAF_SHIFT];
            @Nullable
            MemorySegment @Nullable [] witness = leaves.compareAndExchange(leafIndex,
                    null, fresh);
            leaf = witness == null ? fresh : witness;
        }
        MemorySegment chunk = leaf[slot(index)];
        if (chunk == null) {
            chunk = allocate();
            leaf[slot(index)] = chunk;
        }
        return chunk;
    }

    void release(long index) {
        @Nullable
        MemorySegment @Nullable [] leaf = leaves.get((int) (index >>> LEAF_SHIFT));
        MemorySegment chunk = leaf == null ? null : leaf[slot(index)];
        if (leaf != null && chunk != null) {
            leaf[slot(index)] = null;
            synchronized (free) {
                free.push(chunk);
            }
        }
    }

    long allocatedBytes() {
        synchronized (free) {
            return (allocatedChunks - free.size()) * CHUNK_BYTES;
        }
    }

    private MemorySegment allocate() throws NoSpaceException {
        MemorySegment reused;
        synchronized (free) {
            reused = free.poll();
            if (reused == null) {
                if (allocatedChunks == maxChunks) {
                    throw new NoSpaceException("all " + Size.format(maxChunks * CHUNK_BYTES)
                            + " of memory that the device may use are in use");
                }
                allocatedChunks++;
            }
        }
        if (reused != null) {
            return reused.fill((byte) 0);
        }
        try {
            return arena.allocate(CHUNK_BYTES, 4096);
        } catch (OutOfMemoryError e) {
            synchronized (free) {
                allocatedChunks--;
            }
            throw new NoSpaceException("no memory left for blocks after "
                    + Size.format(allocatedBytes()), e);
        }
    }

    private static int slot(long index) { return (int) (index & ((1 << LEAF_SHIFT) - 1)); }

    @Override
    public void close() { arena.close(); }
}
