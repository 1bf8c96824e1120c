package lunar.tcp;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.function.LongSupplier;
import lunar.iscsi.spi.DirectMemory;

/**
 * Pool of output buffers shared by the connections of a group of loops, so that only connections with something
 * queued hold any. Bounded well below what the JVM allows for direct memory: in an allocation beyond that the JDK
 * sleeps for up to half a second, and with it the loop of many connections. What was allocated is kept, so that the
 * bound holds without a collection of garbage. Thread-safe.
 */
final class Chunks {
    /** Bytes of a chunk: fourteen 4 KiB answers with headers go into one write. */
    static final int SIZE = 64 * 1024;

    /** Allocated without a look at the JVM's limit, which takes some milliseconds to find. */
    private static final int FEW = 256;

    /** Most memory for output: this part of the JVM's direct memory, or so many bytes if that is less. */
    private static final int PART_OF_DIRECT = 4;
    private static final long MOST_BYTES = 512L << 20;

    /** A connection crowds the others when it has more than this part of what is free. */
    private static final int PART_OF_FREE = 16;

    /** One output buffer; its holder's alone. */
    static final class Chunk {
        // Not of an arena, for whose buffers the JDK makes objects in each gathering write.
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE);
        private final MemorySegment bytes = MemorySegment.ofBuffer(buffer);
        private ByteBuffer[] views = {buffer};

        MemorySegment bytes() { return bytes; }

        /** A buffer over a part of the chunk, the same one each time for the same number from 0. */
        ByteBuffer view(int number, int from, int to) {
            if (number == views.length) {
                views = Arrays.copyOf(views, number + 1);
                views[number] = buffer.duplicate();
            }
            return views[number].limit(to).position(from);
        }
    }

    private final Deque<Chunk> idle = new ArrayDeque<>();
    private final LongSupplier directBytes;
    private int most = FEW;
    private boolean bounded;
    private int allocated;
    private int inUse;

    Chunks() { this(DirectMemory::limitBytes); }

    /** @param directBytes what the JVM allows for direct memory; asked once, when it matters */
    Chunks(LongSupplier directBytes) {
        this.directBytes = directBytes;
    }

    /** A chunk for one connection. */
    synchronized Chunk take() throws OutputMemoryException {
        Chunk chunk = idle.poll();
        if (chunk == null) {
            chunk = allocate();
        }
        inUse++;
        return chunk;
    }

    private Chunk allocate() {
        if (allocated >= most) {
            bound();
        }
        if (allocated >= most) {
            throw new OutputMemoryException("no memory for output: all " + most * (SIZE / 1024)
                    + " KiB wait for peers that take nothing");
        }
        try {
            Chunk chunk = new Chunk();
            allocated++;
            return chunk;
        } catch (OutOfMemoryError e) {
            // Others have it. Not tried again, for each try takes half a second.
            bounded = true;
            most = allocated;
            throw new OutputMemoryException("no direct memory for output beyond "
                    + most * (SIZE / 1024) + " KiB; -XX:MaxDirectMemorySize gives more", e);
        }
    }

    synchronized void give(Chunk chunk) {
        inUse--;
        assert inUse >= 0 : "a chunk given back twice";
        idle.push(chunk);
    }

    /**
     * Whether a connection that holds so many had better make do with them until they are written. The more are in use,
     * the less each may have, so that there are some left for the next however many peers take nothing.
     */
    synchronized boolean isCrowdedBy(int held) {
        if (held > share()) {
            bound();
        }
        return held > share();
    }

    private int share() { return Math.max(1, (most - inUse) / PART_OF_FREE); }

    private void bound() {
        if (!bounded) {
            bounded = true;
            most = (int) Math.max(FEW,
                    Math.min(directBytes.getAsLong() / PART_OF_DIRECT, MOST_BYTES) / SIZE);
        }
    }

    /** Chunks taken and not given back. */
    synchronized int inUse() { return inUse; }
}
