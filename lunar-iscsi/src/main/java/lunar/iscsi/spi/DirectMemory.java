package lunar.iscsi.spi;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Native memory for data that a transport sends from where they lie. Any native memory will do for that; but the
 * JDK makes two objects for each buffer of a gathering write whose memory is of an arena, so that nobody closes the
 * arena meanwhile. Memory from here lives until nothing refers to it, and needs none. Thread-safe.
 */
public final class DirectMemory {
    /** A segment does not tell what buffer it was made of, so that is found by what the segment keeps alive. */
    private static final Map<MemorySegment.Scope, Base> BASES = new WeakHashMap<>();

    /** A buffer that its segments keep alive, and this must not. */
    private record Base(WeakReference<ByteBuffer> buffer, long address) {}

    private DirectMemory() {}

    /**
     * Zeroed memory, freed when nothing refers to it.
     *
     * @param alignment bytes, a power of two
     */
    public static MemorySegment allocate(int bytes, int alignment) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(Math.addExact(bytes, alignment - 1));
        MemorySegment all = MemorySegment.ofBuffer(buffer);
        synchronized (BASES) {
            BASES.put(all.scope(), new Base(new WeakReference<>(buffer), all.address()));
        }
        return all.asSlice(-all.address() & (alignment - 1), bytes);
    }

    /** A new buffer over a native segment. */
    static ByteBuffer view(MemorySegment segment) {
        Base base;
        synchronized (BASES) {
            base = BASES.get(segment.scope());
        }
        ByteBuffer buffer = base == null ? null : base.buffer().get();
        return base == null || buffer == null || segment.isReadOnly()
                ? segment.asByteBuffer()
                : buffer.slice((int) (segment.address() - base.address()),
                        (int) segment.byteSize());
    }
}
