package lunar.rdma.posix;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** Builds layouts of C structs, padded as a 64-bit C compiler pads them. */
public final class Structs {
    private Structs() {}

    /** Makes a struct; padding is added. */
    public static StructLayout struct(String name, MemoryLayout... members) {
        var padded = new ArrayList<MemoryLayout>();
        long at = 0;
        long align = 1;
        for (MemoryLayout member : members) {
            at = pad(padded, at, member.byteAlignment());
            padded.add(member);
            at += member.byteSize();
            align = Math.max(align, member.byteAlignment());
        }
        pad(padded, at, align);
        return MemoryLayout.structLayout(padded.toArray(MemoryLayout[]::new)).withName(name);
    }

    private static long pad(List<MemoryLayout> members, long at, long align) {
        long aligned = Math.ceilDiv(at, align) * align;
        if (aligned > at) {
            members.add(MemoryLayout.paddingLayout(aligned - at));
        }
        return aligned;
    }

    /** A pointer, {@code size_t} or {@code uint64_t}. */
    public static ValueLayout.OfLong word(String name) {
        return ValueLayout.JAVA_LONG.withName(name);
    }

    /** An {@code int}, {@code uint32_t} or enum. */
    public static ValueLayout.OfInt number(String name) {
        return ValueLayout.JAVA_INT.withName(name);
    }

    /** An {@code uint16_t}. */
    public static ValueLayout.OfShort half(String name) {
        return ValueLayout.JAVA_SHORT.withName(name);
    }

    /** An {@code uint8_t}. */
    public static ValueLayout.OfByte octet(String name) {
        return ValueLayout.JAVA_BYTE.withName(name);
    }

    /** Offset of a member. */
    public static long offset(StructLayout struct, String member) {
        return struct.byteOffset(PathElement.groupElement(member));
    }
}
