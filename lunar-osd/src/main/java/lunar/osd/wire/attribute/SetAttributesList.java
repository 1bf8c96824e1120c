package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.wire.BigEndian;

/**
 * The attributes to set, in data-out: list type 9h, with an entry per attribute. An attribute without a value is
 * deleted.
 *
 * @param attributes in the order in which they are set
 */
public record SetAttributesList(List<Attribute> attributes) {
    public SetAttributesList {
        attributes = List.copyOf(attributes);
    }

    /**
     * Reads a list, which has as many bytes as the CDB says; none are an empty list. The padding of the last entry may
     * be missing.
     *
     * @throws InvalidParameterListException 1Ah/00h for a list that is cut, 26h/00h for another type or for length
     *         FFFFh, which is none
     */
    public static SetAttributesList decode(MemorySegment list, OsdVersion version)
            throws InvalidParameterListException {
        if (list.byteSize() == 0) {
            return new SetAttributesList(List.of());
        }
        ListLayout.checkSent(list, ListLayout.VALUES, version);
        int header = EntryLayout.headerLength(version);
        var attributes = new ArrayList<Attribute>();
        long at = ListLayout.headerLength(version);
        while (at < list.byteSize()) {
            if (at + header > list.byteSize()) {
                throw InvalidParameterListException.length();
            }
            int length = BigEndian.int16(list, at + EntryLayout.lengthAt(version));
            if (length > Attribute.MAX_LENGTH) {
                throw InvalidParameterListException
                        .field((int) Math.min(at, 0xffff) + EntryLayout.lengthAt(version));
            }
            if (at + header + length > list.byteSize()) {
                throw InvalidParameterListException.length();
            }
            attributes.add(new Attribute(EntryLayout.id(list, at),
                    Fields.bytes(list, at + header, length)));
            at += EntryLayout.length(length, version);
        }
        return new SetAttributesList(attributes);
    }

    /** Encodes the list; its header has no length, which is in the CDB. */
    public byte[] bytes(OsdVersion version) {
        byte[] array = ListLayout.start(ListLayout.VALUES, EntryLayout.length(attributes, version),
                version);
        var list = MemorySegment.ofArray(array);
        long at = ListLayout.headerLength(version);
        for (Attribute attribute : attributes) {
            at = EntryLayout.set(list, at, attribute, version);
        }
        return array;
    }
}
