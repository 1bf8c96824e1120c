package lunar.tcp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Pool of output buffers shared by the connections of a group of loops, so that only connections with something
 * queued hold any. Thread-safe.
 */
final class Chunks {
    /** Bytes of a chunk: fourteen 4 KiB answers with headers go into one write. */
    static final int SIZE = 64 * 1024;
    private static final int MAX_IDLE = 256;

    /** One output buffer. {@code bytes} and {@code buffer} are two views of the same memory. */
    record Chunk(MemorySegment bytes, ByteBuffer buffer) {}

    private final Deque<Chunk> idle = new ArrayDeque<>();
    private int inUse;

    synchronized Chunk take() {
        inUse++;
        Chunk chunk = idle.poll();
        if (chunk != null) {
            return chunk;
        }
        MemorySegment bytes = Arena.ofAuto().allocate(SIZE, 64);
        return new Chunk(bytes, bytes.asByteBuffer());
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
