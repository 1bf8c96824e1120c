package lunar.rdma.libfabric;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reads and writes native memory by address, and with that the structs of libfabric. */
final class Memory {
    private static final MemorySegment ALL = all();

    private Memory() {}

    @SuppressWarnings("restricted")
    private static MemorySegment all() { return MemorySegment.NULL.reinterpret(Long.MAX_VALUE); }

    static long word(long address) { return ALL.get(ValueLayout.JAVA_LONG, address); }

    static int number(long address) { return ALL.get(ValueLayout.JAVA_INT, address); }

    static void word(long address, long value) { ALL.set(ValueLayout.JAVA_LONG, address, value); }

    static void number(long address, int value) { ALL.set(ValueLayout.JAVA_INT, address, value); }

    /** Memory as a segment, which is never checked for its lifetime. */
    static MemorySegment at(long address, long bytes) {
        return ALL.asSlice(address, bytes);
    }

    /** A C string; empty for a null pointer. */
    static String string(long address) {
        return address == 0 ? "" : ALL.getString(address);
    }
}
