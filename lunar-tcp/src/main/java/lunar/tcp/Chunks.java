package lunar.tcp;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/**
 * Pool of output buffers shared by the connections of a group of loops, so that only connections with something
 * queued hold any. Thread-safe.
 */
final class Chunks {
    /** Bytes of a chunk: fourteen 4 KiB answers with headers go into one write. */
    static final int SIZE = 64 * 1024;
    private static final int MAX_IDLE = 256;

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
    private int inUse;

    synchronized Chunk take() {
        inUse++;
        Chunk chunk = idle.poll();
        return chunk == null ? new Chunk() : chunk;
    }

    synchronized void give(Chunk chunk) {
        inUse--;
        assert inUse >= 0 : "a chunk given back twice";
        if (idle.size() < MAX_IDLE) {
            idle.push(chunk);
        }
    }

    /** Chunks taken and not given back. */
    synchronized int inUse() { return inUse; }
}
