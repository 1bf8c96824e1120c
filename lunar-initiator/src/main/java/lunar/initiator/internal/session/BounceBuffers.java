package lunar.initiator.internal.session;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Bounce buffers in place of callers' buffers that the transport cannot use: memory confined to the caller's thread,
 * which the event loop's thread cannot access, and arrays other than byte arrays. Thread-safe.
 */
public final class BounceBuffers {
    /** Serves to test whether other threads may access a buffer; never started. */
    private static final Thread OTHER = Thread.ofPlatform().unstarted(() -> {});
    private static final long MAX_IDLE_BYTES = 16 << 20;

    private final Deque<MemorySegment> idle = new ArrayDeque<>();
    private long idleBytes;

    /** Whether any thread may use a buffer, and until its arena is closed. */
    public static boolean isShared(MemorySegment buffer) {
        return buffer.isAccessibleBy(OTHER) && buffer.scope().isAlive();
    }

    /** Whether the transport can use a buffer itself. */
    private static boolean isUsable(MemorySegment buffer) {
        return buffer.isNative()
                ? buffer.byteSize() == 0 || buffer.isAccessibleBy(OTHER)
                : buffer.heapBase().map(byte[].class::isInstance).orElse(false);
    }

    /** Returns the buffer, or one to receive in its place. */
    public MemorySegment into(MemorySegment buffer) {
        return isUsable(buffer) ? buffer : take(buffer.byteSize());
    }

    /** Returns the buffer, or a copy to send in its place. */
    public MemorySegment outOf(MemorySegment buffer) {
        return isUsable(buffer) ? buffer : take(buffer.byteSize()).copyFrom(buffer);
    }

    /** Copies data received in a bounce buffer to the caller's buffer. */
    public static void copyBack(MemorySegment used, MemorySegment buffer) {
        if (!used.equals(buffer)) {
            buffer.copyFrom(used);
        }
    }

    /** Returns a bounce buffer; no effect for a buffer that needed none. */
    public synchronized void give(MemorySegment used, MemorySegment buffer) {
        if (!used.equals(buffer) && idleBytes + used.byteSize() <= MAX_IDLE_BYTES) {
            idle.push(used);
            idleBytes += used.byteSize();
        }
    }

    /** Returns memory of exactly so many bytes, from the pool if it holds a segment of that size. */
    private synchronized MemorySegment take(long bytes) {
        for (var each = idle.iterator(); each.hasNext();) {
            MemorySegment found = each.next();
            if (found.byteSize() == bytes) {
                each.remove();
                idleBytes -= bytes;
                return found;
            }
        }
        return Arena.ofAuto().allocate(bytes, 64);
    }
}
