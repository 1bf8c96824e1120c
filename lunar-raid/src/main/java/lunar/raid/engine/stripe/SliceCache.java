package lunar.raid.engine.stripe;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Parts of a buffer, by number. A part that is asked for again, of the same buffer, is the same object: a caller that
 * reuses its buffers makes no garbage. Keeps a reference to the last buffer. For one thread at a time.
 */
public final class SliceCache {
    private MemorySegment whole = MemorySegment.NULL;
    private final @Nullable MemorySegment[] parts;
    private final long[] starts;

    /** Creates slices that keep {@code count} parts; parts with higher numbers are made anew each time. */
    public SliceCache(int count) {
        parts = new @Nullable MemorySegment[count];
        starts = new long[count];
    }

    public MemorySegment of(MemorySegment buffer, int number, long at, long bytes) {
        if (at == 0 && bytes == buffer.byteSize()) {
            return buffer;
        }
        if (number >= parts.length) {
            return buffer.asSlice(at, bytes);
        }
        use(buffer);
        MemorySegment part = parts[number];
        if (part == null || starts[number] != at || part.byteSize() != bytes) {
            part = buffer.asSlice(at, bytes);
            parts[number] = part;
            starts[number] = at;
        }
        return part;
    }

    private void use(MemorySegment buffer) {
        if (!isSame(buffer, whole)) {
            whole = buffer;
            Arrays.fill(parts, null);
        }
    }

    /** Whether two segments are the same: segments of one address may have different lifetimes. */
    private static boolean isSame(MemorySegment one, MemorySegment other) {
        return one.equals(other) && one.byteSize() == other.byteSize()
                && one.scope().equals(other.scope()) && one.isReadOnly() == other.isReadOnly();
    }
}
