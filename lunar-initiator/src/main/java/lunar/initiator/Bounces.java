package lunar.initiator;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Buffers that stand in for those of callers which the transport cannot use: memory that is confined to the
 * caller's thread, whereas the loop's thread sends and receives, and arrays that are not of bytes. Thread-safe.
 */
final class Bounces {
    /** Only a thread to ask about: it is never started. */
    private static final Thread OTHER = Thread.ofPlatform().unstarted(() -> {});
    private static final long MAX_IDLE_BYTES = 16 << 20;

    private final Deque<MemorySegment> idle = new ArrayDeque<>();
    private long idleBytes;

    /** Whether any thread may use a buffer, and until its arena is closed. */
    static boolean isShared(MemorySegment buffer) {
        return buffer.isAccessibleBy(OTHER) && buffer.scope().isAlive();
    }

    /** Whether the transport can use a buffer itself. */
    private static boolean isUsable(MemorySegment buffer) {
        return buffer.isNative()
                ? buffer.byteSize() == 0 || buffer.isAccessibleBy(OTHER)
                : buffer.heapBase().map(byte[].class::isInstance).orElse(false);
    }

    /** The buffer, or one to receive in its place. */
    MemorySegment into(MemorySegment buffer) {
        return isUsable(buffer) ? buffer : take(buffer.byteSize());
    }

    /** The buffer, or a copy to send in its place. */
    MemorySegment outOf(MemorySegment buffer) {
        return isUsable(buffer) ? buffer : take(buffer.byteSize()).copyFrom(buffer);
    }

    /** Gives the caller's buffer what was received in its place. */
    static void copyBack(MemorySegment used, MemorySegment buffer) {
        if (!used.equals(buffer)) {
            buffer.copyFrom(used);
        }
    }

    /** Takes a stand-in back; does nothing for a buffer that needed none. */
    synchronized void give(MemorySegment used, MemorySegment buffer) {
        if (!used.equals(buffer) && idleBytes + used.byteSize() <= MAX_IDLE_BYTES) {
            idle.push(used);
            idleBytes += used.byteSize();
        }
    }

    /** Memory of exactly so many bytes; those who ask again for as many get it from the pool. */
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
