package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.MalformedDataException;
import lunar.scsi.wire.BigEndian;

/**
 * Attributes of objects that one CREATE made, in data-in: list type Fh. OSD-1 only. Each entry is a User_Object_ID (8
 * bytes) with an entry of one attribute.
 *
 * @param entries attributes with their objects
 */
public record CreatedObjectsAttributesList(List<Entry> entries) {
    /** An attribute of an object. */
    public record Entry(long objectId, Attribute attribute) {}

    private static final OsdVersion VERSION = OsdVersion.OSD_1;
    private static final int ID_LENGTH = 8;

    public CreatedObjectsAttributesList {
        entries = List.copyOf(entries);
    }

    /**
     * Reads a list; leaves out the last entry if it is truncated.
     *
     * @throws MalformedDataException for a list without a header, or of another type
     */
    public static CreatedObjectsAttributesList decode(MemorySegment list)
            throws MalformedDataException {
        long end = ListLayout.checkReturned(list, ListLayout.CREATED, VERSION);
        int header = ID_LENGTH + EntryLayout.headerLength(VERSION);
        var entries = new ArrayList<Entry>();
        long at = ListLayout.headerLength(VERSION);
        while (at + header <= end) {
            int length = BigEndian.int16(list, at + ID_LENGTH + EntryLayout.lengthAt(VERSION));
            int present = length == EntryLayout.UNSET ? 0 : length;
            if (at + header + present > end) {
                break;
            }
            entries.add(new Entry(BigEndian.int64(list, at),
                    new Attribute(EntryLayout.id(list, at + ID_LENGTH),
                            Fields.bytes(list, at + header, present))));
            at += header + present;
        }
        return new CreatedObjectsAttributesList(entries);
    }

    /** Writes as much of the list as fits, at most {@code allocationLength} bytes; returns how many. */
    public int encode(MemorySegment target, long allocationLength) {
        int length = EntryLayout.length(entries.stream().map(Entry::attribute).toList(), VERSION);
        byte[] array = ListLayout.start(ListLayout.CREATED,
                Math.addExact(length, ID_LENGTH * entries.size()), VERSION);
        var list = MemorySegment.ofArray(array);
        long at = ListLayout.headerLength(VERSION);
        for (Entry entry : entries) {
            BigEndian.int64(list, at, entry.objectId());
            at = EntryLayout.returned(list, at + ID_LENGTH, entry.attribute(), VERSION);
        }
        return ListLayout.truncate(array, target, allocationLength, VERSION);
    }
}
