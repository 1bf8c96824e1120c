package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.MalformedDataException;

/**
 * Attributes of several objects, in data-in of commands for the members of a collection: list type Eh. OSD-2 only.
 *
 * @param objects objects with their attributes
 */
public record MultiObjectAttributesList(List<ObjectAttributes> objects) {
    public MultiObjectAttributesList {
        objects = List.copyOf(objects);
    }

    /**
     * Reads a list; leaves out the last object if it is truncated.
     *
     * @throws MalformedDataException for a list without a header, of another type, or with an object type that is not
     *         defined
     */
    public static MultiObjectAttributesList decode(MemorySegment list)
            throws MalformedDataException {
        long end = ListLayout.checkReturned(list, ListLayout.OBJECTS, OsdVersion.OSD_2);
        return new MultiObjectAttributesList(ObjectAttributes.decode(list,
                ListLayout.headerLength(OsdVersion.OSD_2), end));
    }

    /** Writes as much of the list as fits, at most {@code allocationLength} bytes; returns how many. */
    public int encode(MemorySegment target, long allocationLength) {
        int length = 0;
        for (ObjectAttributes object : objects) {
            length = Math.addExact(length, object.length());
        }
        byte[] array = ListLayout.start(ListLayout.OBJECTS, length, OsdVersion.OSD_2);
        var list = MemorySegment.ofArray(array);
        long at = ListLayout.headerLength(OsdVersion.OSD_2);
        for (ObjectAttributes object : objects) {
            at = object.encode(list, at);
        }
        return ListLayout.truncate(array, target, allocationLength, OsdVersion.OSD_2);
    }
}
