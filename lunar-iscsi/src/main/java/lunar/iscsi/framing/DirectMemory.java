package lunar.iscsi.framing;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Allocates native memory for data that a transport sends without a copy. Any native memory can be sent; but for memory
 * of an arena the JDK allocates two objects per buffer of a gathering write, which keep the arena open meanwhile.
 * Memory allocated here is freed by the garbage collector and avoids that. Thread-safe.
 */
public final class DirectMemory {
    private static final String OPTION = "-XX:MaxDirectMemorySize=";

    /** Buffers by scope, because a segment does not expose the buffer that it was created from. */
    private static final Map<MemorySegment.Scope, Base> BASES = new WeakHashMap<>();

    /** A buffer that its segments keep alive, and this must not. */
    private record Base(WeakReference<ByteBuffer> buffer, long address) {}

    private DirectMemory() {}

    /**
     * Returns the JVM's limit of direct memory. A thread that exceeds it sleeps for up to half a second and delays
     * everything that waits for it; therefore each pool uses at most a part of the limit.
     */
    public static long limitBytes() {
        return limitBytes(ManagementFactory.getRuntimeMXBean().getInputArguments(),
                Runtime.getRuntime().maxMemory());
    }

    /** Returns the limit under these JVM options; the last of several holds, and without one the size of the heap. */
    static long limitBytes(List<String> options, long heapBytes) {
        long limit = 0;
        for (String option : options) {
            if (option.startsWith(OPTION)) {
                limit = bytes(option.substring(OPTION.length()));
            }
        }
        return limit > 0 ? limit : heapBytes;
    }

    /** A size as the JVM reads it: digits, and a letter perhaps. */
    private static long bytes(String size) {
        int last = size.length() - 1;
        int shift = last < 0 ? 0 : switch (size.charAt(last)) {
            case 'k', 'K' -> 10;
            case 'm', 'M' -> 20;
            case 'g', 'G' -> 30;
            case 't', 'T' -> 40;
            default -> 0;
        };
        return Long.parseLong(shift == 0 ? size : size.substring(0, last)) << shift;
    }

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
