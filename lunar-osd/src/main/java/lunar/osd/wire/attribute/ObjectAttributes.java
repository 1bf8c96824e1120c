package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.MalformedDataException;
import lunar.scsi.wire.BigEndian;

/**
 * An object with some of its attributes: an entry of a {@link MultiObjectAttributesList} and of the replies of LIST and
 * LIST COLLECTION with attributes. OSD-2 only.
 *
 * <pre>
 * 0 object identifier (8)   8 object type   14 attributes list length (2)   16 entries with values
 * </pre>
 *
 * @param id Partition_ID, Collection_Object_ID or User_Object_ID
 * @param type type of the object
 * @param attributes at most FFFFh bytes of entries
 */
public record ObjectAttributes(long id, ObjectType type, List<Attribute> attributes) {
    private static final int HEADER_LENGTH = 16;
    private static final int TYPE_AT = 8;
    private static final int LENGTH_AT = 14;
    private static final int MAX_LENGTH = 0xffff;

    public ObjectAttributes {
        attributes = List.copyOf(attributes);
        Fields.check("attributes list length", EntryLayout.length(attributes, OsdVersion.OSD_2),
                MAX_LENGTH);
    }

    /** Bytes of the entry. */
    public int length() {
        return HEADER_LENGTH + EntryLayout.length(attributes, OsdVersion.OSD_2);
    }

    /** Writes {@link #length()} bytes; returns the offset behind them. */
    public long encode(MemorySegment target, long at) {
        BigEndian.int64(target, at, id);
        BigEndian.int8(target, at + TYPE_AT, type.code());
        BigEndian.int16(target, at + LENGTH_AT, length() - HEADER_LENGTH);
        long next = at + HEADER_LENGTH;
        for (Attribute attribute : attributes) {
            next = EntryLayout.returned(target, next, attribute, OsdVersion.OSD_2);
        }
        return next;
    }

    /**
     * Reads entries; leaves out the last one if it is truncated.
     *
     * @param from offset of the first entry
     * @param end offset behind the last one
     * @throws MalformedDataException for an object type that is not defined
     */
    public static List<ObjectAttributes> decode(MemorySegment bytes, long from, long end)
            throws MalformedDataException {
        var objects = new ArrayList<ObjectAttributes>();
        long at = from;
        while (at + HEADER_LENGTH <= end) {
            int code = BigEndian.int8(bytes, at + TYPE_AT);
            long next = at + HEADER_LENGTH + BigEndian.int16(bytes, at + LENGTH_AT);
            if (next > end) {
                break;
            }
            ObjectType type = ObjectType.of(code)
                    .orElseThrow(() -> new MalformedDataException("object type " + code));
            objects.add(new ObjectAttributes(BigEndian.int64(bytes, at), type,
                    EntryLayout.returned(bytes, at + HEADER_LENGTH, next, OsdVersion.OSD_2)));
            at = next;
        }
        return objects;
    }
}
