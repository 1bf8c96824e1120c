package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.wire.BigEndian;

/**
 * Writes a list of attributes to data-in, entry by entry, as much of it as fits: like the records of the lists, which
 * it needs less memory than, whatever the attributes are. Used by one thread.
 *
 * <pre>{@code
 * var list = AttributesListWriter.retrieved(target, version);
 * while (list.add(next())) {
 * }
 * int bytes = list.finish();
 * }</pre>
 */
public final class AttributesListWriter {
    private static final int OSD_1_MAX = 0xffff;
    private static final int ID_LENGTH = 8;

    private final MemorySegment target;
    private final int type;
    private final OsdVersion version;
    private long at;
    private boolean full;

    private AttributesListWriter(MemorySegment target, int type, OsdVersion version) {
        int header = ListLayout.headerLength(version);
        this.target = version == OsdVersion.OSD_1 && target.byteSize() > header + OSD_1_MAX
                ? target.asSlice(0, header + OSD_1_MAX)
                : target;
        this.type = type;
        this.version = version;
        byte[] start = new byte[header];
        start[0] = (byte) type;
        put(start, header);
    }

    /** A {@link RetrievedAttributesList}. */
    public static AttributesListWriter retrieved(MemorySegment target, OsdVersion version) {
        return new AttributesListWriter(target, ListLayout.VALUES, version);
    }

    /** A list of the attributes of several objects: {@link MultiObjectAttributesList}, in OSD-1 of created ones. */
    public static AttributesListWriter ofObjects(MemorySegment target, OsdVersion version) {
        return new AttributesListWriter(target,
                version == OsdVersion.OSD_1 ? ListLayout.CREATED : ListLayout.OBJECTS, version);
    }

    /** Adds an attribute to a list of one object; returns false if no more fits. */
    public boolean add(Attribute attribute) {
        check(ListLayout.VALUES);
        int length = EntryLayout.length(attribute.value().length(), version);
        byte[] entry = new byte[length];
        long _ = EntryLayout.returned(MemorySegment.ofArray(entry), 0, attribute, version);
        return put(entry, length);
    }

    /** Adds an object with its attributes to a list of several; returns false if no more fits. */
    public boolean add(ObjectAttributes object) {
        if (version == OsdVersion.OSD_1) {
            check(ListLayout.CREATED);
            boolean fits = true;
            for (Attribute attribute : object.attributes()) {
                fits = fits && addCreated(object.id(), attribute);
            }
            return fits;
        }
        check(ListLayout.OBJECTS);
        byte[] entry = new byte[object.length()];
        long _ = object.encode(MemorySegment.ofArray(entry), 0);
        return put(entry, entry.length);
    }

    private boolean addCreated(long objectId, Attribute attribute) {
        int length = ID_LENGTH + EntryLayout.length(attribute.value().length(), version);
        byte[] array = new byte[length];
        var entry = MemorySegment.ofArray(array);
        BigEndian.int64(entry, 0, objectId);
        long _ = EntryLayout.returned(entry, ID_LENGTH, attribute, version);
        return put(array, length);
    }

    private void check(int expected) {
        if (type != expected) {
            throw new IllegalStateException("entry of another list than type " + type);
        }
    }

    private boolean put(byte[] bytes, int length) {
        long fits = Math.min(length, target.byteSize() - at);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, target, at, fits);
        at += fits;
        full = full || fits < length;
        return !full;
    }

    /** Whether the list is cut. */
    public boolean isFull() { return full; }

    /** Bytes of the attributes that the list of an object in {@link ObjectAttributes} has. */
    public static int lengthOf(List<Attribute> attributes) {
        return EntryLayout.length(attributes, OsdVersion.OSD_2);
    }

    /** Ends the list: writes its length, that of the bytes which are there. Returns its bytes with the header. */
    public int finish() {
        int header = ListLayout.headerLength(version);
        if (at >= header) {
            if (version == OsdVersion.OSD_1) {
                BigEndian.int16(target, 2, (int) at - header);
            } else {
                BigEndian.int32(target, 4, at - header);
            }
        }
        return (int) at;
    }
}
