package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.InvalidParameterListException;

/**
 * The attributes to get, in data-out: list type 1h, with page and number (4 bytes each) per entry.
 *
 * @param ids attributes in the order in which they are returned
 */
public record GetAttributesList(List<AttributeId> ids) {
    private static final int ENTRY_LENGTH = 8;

    public GetAttributesList {
        ids = List.copyOf(ids);
    }

    /**
     * Reads a list, which has as many bytes as the CDB says; none are an empty list.
     *
     * @throws InvalidParameterListException 1Ah/00h for a list that is cut, 26h/00h for another type
     */
    public static GetAttributesList decode(MemorySegment list, OsdVersion version)
            throws InvalidParameterListException {
        if (list.byteSize() == 0) {
            return new GetAttributesList(List.of());
        }
        ListLayout.checkSent(list, ListLayout.GET, version);
        int header = ListLayout.headerLength(version);
        if ((list.byteSize() - header) % ENTRY_LENGTH != 0) {
            throw InvalidParameterListException.length();
        }
        var ids = new ArrayList<AttributeId>();
        for (long at = header; at < list.byteSize(); at += ENTRY_LENGTH) {
            ids.add(EntryLayout.id(list, at));
        }
        return new GetAttributesList(ids);
    }

    /** Encodes the list; its header has no length, which is in the CDB. */
    public byte[] bytes(OsdVersion version) {
        byte[] array = ListLayout.start(ListLayout.GET,
                Math.multiplyExact(ENTRY_LENGTH, ids.size()), version);
        var list = MemorySegment.ofArray(array);
        long at = ListLayout.headerLength(version);
        for (AttributeId id : ids) {
            EntryLayout.id(list, at, id);
            at += ENTRY_LENGTH;
        }
        return array;
    }
}
