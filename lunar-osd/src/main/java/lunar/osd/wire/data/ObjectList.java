package lunar.osd.wire.data;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * A reply of LIST or LIST COLLECTION with identifiers alone.
 *
 * @param header header; its additional length may be that of more identifiers than are here
 * @param ids identifiers, unsigned, ascending
 */
public record ObjectList(ListHeader header, List<Long> ids) implements ParameterData {
    private static final int ID_LENGTH = 8;

    public ObjectList {
        ids = List.copyOf(ids);
        if (header.withAttributes()) {
            throw new IllegalArgumentException("identifiers without attributes: " + header);
        }
    }

    /**
     * Reads a reply; leaves out the last identifier if it is truncated.
     *
     * @param action the command
     * @throws MalformedDataException if there is no header, or one for entries with attributes
     */
    public static ObjectList decode(MemorySegment bytes, OsdVersion version, ServiceAction action)
            throws MalformedDataException {
        ListHeader header = ListHeader.decode(bytes, version, action);
        if (header.withAttributes()) {
            throw new MalformedDataException("list has attributes");
        }
        var ids = new ArrayList<Long>();
        long end = header.end(bytes.byteSize());
        for (long at = ListHeader.LENGTH; at + ID_LENGTH <= end; at += ID_LENGTH) {
            ids.add(BigEndian.int64(bytes, at));
        }
        return new ObjectList(header, ids);
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[Math.addExact(ListHeader.LENGTH,
                Math.multiplyExact(ID_LENGTH, ids.size()))];
        var bytes = MemorySegment.ofArray(array);
        header.encode(bytes);
        for (int i = 0; i < ids.size(); i++) {
            BigEndian.int64(bytes, ListHeader.LENGTH + (long) i * ID_LENGTH, ids.get(i));
        }
        return array;
    }
}
