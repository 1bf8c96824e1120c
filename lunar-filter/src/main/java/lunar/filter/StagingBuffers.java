package lunar.filter;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A small pool of native buffers of one size, allocated on demand, for a filter's own requests. A caller that finds
 * none free must do without. Thread-safe.
 */
final class StagingBuffers {
    private static final int ALIGNMENT = 4096;

    private final long bytes;
    private final int maxCount;
    /** Guarded by this, like the count. */
    private final ArrayDeque<MemorySegment> free = new ArrayDeque<>();
    private int made;

    StagingBuffers(int maxCount, long bytes) {
        this.maxCount = maxCount;
        this.bytes = bytes;
    }

    /** Bytes of each. */
    long bytes() { return bytes; }

    synchronized boolean isEmpty() { return free.isEmpty() && made == maxCount; }

    /** A buffer of any content, or null where all are in use. */
    synchronized @Nullable MemorySegment take() {
        MemorySegment buffer = free.poll();
        if (buffer != null || made == maxCount) {
            return buffer;
        }
        try {
            buffer = Arena.ofAuto().allocate(bytes, ALIGNMENT);
            made++;
            return buffer;
        } catch (OutOfMemoryError _) { // as good as none free
            return null;
        }
    }

    synchronized void giveBack(MemorySegment buffer) { free.push(buffer); }
}
