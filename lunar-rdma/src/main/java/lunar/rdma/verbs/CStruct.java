package lunar.rdma.verbs;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Layouts of C structs from the offsets of the fields that are used; bytes between them are padding. A test compares
 * each layout with what a C program prints.
 */
final class CStruct {
    private CStruct() {}

    /** Declares a field. */
    static Field at(long offset, String name, MemoryLayout layout) {
        return new Field(offset, layout.withName(name));
    }

    /** Returns the layout of a struct that this side allocates. */
    static StructLayout allocated(String name, long sizeBytes, Field... fields) {
        return layout(name, sizeBytes, fields);
    }

    /**
     * Returns the layout of a struct that the library allocates. It ends after its last field that is used: what
     * follows, a mutex often, has a size of its own on each processor.
     */
    static StructLayout foreign(String name, Field... fields) {
        Field last = fields[fields.length - 1];
        return layout(name, last.offset + last.layout.byteSize(), fields);
    }

    private static StructLayout layout(String name, long sizeBytes, Field... fields) {
        List<MemoryLayout> members = new ArrayList<>();
        long end = 0;
        for (Field field : fields) {
            if (field.offset > end) {
                members.add(MemoryLayout.paddingLayout(field.offset - end));
            }
            members.add(field.layout);
            end = field.offset + field.layout.byteSize();
        }
        if (sizeBytes > end) {
            members.add(MemoryLayout.paddingLayout(sizeBytes - end));
        }
        return MemoryLayout.structLayout(members.toArray(MemoryLayout[]::new)).withName(name);
    }

    /** Returns the offset of a field. */
    static long offset(StructLayout struct, String field) {
        return struct.byteOffset(PathElement.groupElement(field));
    }

    /** A field at its offset. */
    record Field(long offset, MemoryLayout layout) {}
}
