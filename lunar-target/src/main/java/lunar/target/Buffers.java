package lunar.target;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Pool of native memory for the data of commands, in size classes of powers of four from 4 KiB. Bounded: what is in
 * use and what is kept idle together never exceed the limit by more than one buffer. Thread-safe.
 */
final class Buffers {
    private static final int SMALLEST_SHIFT = 12;
    private static final int CLASS_SHIFT = 2;
    private static final int ALIGNMENT = 4096;

    /** Memory lent to a task. */
    record Buffer(MemorySegment memory, int sizeClass) {}

    private final List<ArrayDeque<Buffer>> idle = new ArrayList<>();
    private final long maxBytes;
    private long usedBytes;
    private long idleBytes;

    Buffers(int largestBytes, long maxBytes) {
        this.maxBytes = maxBytes;
        for (int i = 0; i <= sizeClass(largestBytes); i++) {
            idle.add(new ArrayDeque<>());
        }
    }

    private static int sizeClass(int bytes) {
        int shift = 32 - Integer.numberOfLeadingZeros(Math.max(1, bytes) - 1);
        return Math.max(0, (shift - SMALLEST_SHIFT + CLASS_SHIFT - 1) / CLASS_SHIFT);
    }

    private static int bytesOf(int sizeClass) {
        return 1 << (SMALLEST_SHIFT + CLASS_SHIFT * sizeClass);
    }

    /** Memory of at least so many bytes, whose content is whatever was there; null where the limit is reached. */
    synchronized @Nullable Buffer take(int bytes) {
        int sizeClass = sizeClass(bytes);
        int size = bytesOf(sizeClass);
        Buffer kept = idle.get(sizeClass).poll();
        if (kept != null) {
            idleBytes -= size;
            usedBytes += size;
            return kept;
        }
        if (usedBytes + size > maxBytes) {
            return null;
        }
        usedBytes += size;
        return new Buffer(Arena.ofAuto().allocate(size, ALIGNMENT), sizeClass);
    }

    /** Takes memory back. */
    synchronized void give(Buffer buffer) {
        int size = bytesOf(buffer.sizeClass());
        usedBytes -= size;
        if (usedBytes + idleBytes + size <= maxBytes / 2) { // the rest goes back to the system
            idleBytes += size;
            idle.get(buffer.sizeClass()).push(buffer);
        }
    }

    synchronized long usedBytes() { return usedBytes; }
}
