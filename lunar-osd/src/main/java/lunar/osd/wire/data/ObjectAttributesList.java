package lunar.osd.wire.data;

import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;

/**
 * A reply of LIST or LIST COLLECTION with attributes (LIST_ATTR). OSD-2 only.
 *
 * @param header header; its additional length may be that of more objects than are here
 * @param objects objects with attributes, by ascending identifiers
 */
public record ObjectAttributesList(ListHeader header, List<ObjectAttributes> objects)
        implements
        ParameterData {
    public ObjectAttributesList {
        objects = List.copyOf(objects);
        if (!header.withAttributes()) {
            throw new IllegalArgumentException("identifiers with attributes: " + header);
        }
    }

    /**
     * Reads a reply; leaves out the last object if it is truncated.
     *
     * @param action the command
     * @throws MalformedDataException if there is no header, or one for identifiers alone, or an object type is not
     *         defined
     */
    public static ObjectAttributesList decode(MemorySegment bytes, ServiceAction action)
            throws MalformedDataException {
        ListHeader header = ListHeader.decode(bytes, OsdVersion.OSD_2, action);
        if (!header.withAttributes()) {
            throw new MalformedDataException("list has no attributes");
        }
        return new ObjectAttributesList(header, ObjectAttributes.decode(bytes, ListHeader.LENGTH,
                header.end(bytes.byteSize())));
    }

    @Override
    public byte[] bytes() {
        int length = ListHeader.LENGTH;
        for (ObjectAttributes object : objects) {
            length = Math.addExact(length, object.length());
        }
        byte[] array = new byte[length];
        var bytes = MemorySegment.ofArray(array);
        header.encode(bytes);
        long at = ListHeader.LENGTH;
        for (ObjectAttributes object : objects) {
            at = object.encode(bytes, at);
        }
        return array;
    }
}
