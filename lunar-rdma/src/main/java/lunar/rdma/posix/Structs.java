package lunar.rdma.posix;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds layouts of C structs of 64-bit Linux: from all members in order, padded like a C compiler pads them, or from
 * the offsets of the fields that are used, with padding between them. Tests compare the layouts with what C programs
 * print.
 */
public final class Structs {
    private Structs() {}

    /** A field at its offset. */
    public record Field(long offset, MemoryLayout layout) {}

    /** Makes a struct of all its members; padding is added. */
    public static StructLayout struct(String name, MemoryLayout... members) {
        var fields = new Field[members.length];
        long at = 0;
        long align = 1;
        for (int i = 0; i < members.length; i++) {
            at = aligned(at, members[i].byteAlignment());
            fields[i] = new Field(at, members[i]);
            at += members[i].byteSize();
            align = Math.max(align, members[i].byteAlignment());
        }
        return layout(name, aligned(at, align), fields);
    }

    private static long aligned(long at, long align) { return Math.ceilDiv(at, align) * align; }

    /** Declares a field of a struct whose other fields are not used. */
    public static Field at(long offset, String name, MemoryLayout layout) {
        return new Field(offset, layout.withName(name));
    }

    /** Makes a struct that this side allocates, of the fields that are used. */
    public static StructLayout allocated(String name, long sizeBytes, Field... fields) {
        return layout(name, sizeBytes, fields);
    }

    /**
     * Makes a struct that a library allocates. It ends after the last field that is used, since the fields after that,
     * often a mutex, have different sizes on different processors.
     */
    public static StructLayout foreign(String name, Field... fields) {
        Field last = fields[fields.length - 1];
        return layout(name, last.offset + last.layout.byteSize(), fields);
    }

    private static StructLayout layout(String name, long sizeBytes, Field... fields) {
        List<MemoryLayout> members = new ArrayList<>();
        long end = 0;
        for (Field field : fields) {
            pad(members, field.offset - end);
            members.add(field.layout);
            end = field.offset + field.layout.byteSize();
        }
        pad(members, sizeBytes - end);
        return MemoryLayout.structLayout(members.toArray(MemoryLayout[]::new)).withName(name);
    }

    private static void pad(List<MemoryLayout> members, long bytes) {
        if (bytes > 0) {
            members.add(MemoryLayout.paddingLayout(bytes));
        }
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
