package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.MalformedDataException;

/**
 * The attributes that were got, in data-in: list type 9h, with an entry per attribute.
 *
 * @param attributes in the order of the get attributes list; those that are not set have no value
 */
public record RetrievedAttributesList(List<Attribute> attributes) {
    public RetrievedAttributesList {
        attributes = List.copyOf(attributes);
    }

    /**
     * Reads a list; leaves out the last entry if it is truncated.
     *
     * @throws MalformedDataException for a list without a header, or of another type
     */
    public static RetrievedAttributesList decode(MemorySegment list, OsdVersion version)
            throws MalformedDataException {
        long end = ListLayout.checkReturned(list, ListLayout.VALUES, version);
        return new RetrievedAttributesList(
                EntryLayout.returned(list, ListLayout.headerLength(version), end, version));
    }

    /**
     * Writes as much of the list as fits; truncation is no error.
     *
     * @param target destination
     * @param allocationLength most bytes to write
     * @return bytes written
     */
    public int encode(MemorySegment target, long allocationLength, OsdVersion version) {
        byte[] array = ListLayout.start(ListLayout.VALUES, EntryLayout.length(attributes, version),
                version);
        var list = MemorySegment.ofArray(array);
        long at = ListLayout.headerLength(version);
        for (Attribute attribute : attributes) {
            at = EntryLayout.returned(list, at, attribute, version);
        }
        return ListLayout.truncate(array, target, allocationLength, version);
    }
}
