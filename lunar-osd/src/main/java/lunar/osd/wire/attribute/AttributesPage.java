package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * A page in data-in, for {@link PageParameters}. A page that does not exist, or has no page format, has no fields.
 *
 * <pre>
 * 0 page   4 length of the fields   8 fields
 * </pre>
 *
 * @param page attributes page
 * @param fields attributes of fixed length in the order that the page defines
 */
public record AttributesPage(int page, Bytes fields) implements ParameterData {
    private static final int HEADER_LENGTH = 8;

    /** A page without fields. */
    public static AttributesPage empty(int page) {
        return new AttributesPage(page, Bytes.EMPTY);
    }

    /**
     * Reads a page; fields that are truncated are not there.
     *
     * @throws MalformedDataException for less than the header
     */
    public static AttributesPage decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException(
                    "attributes page of " + bytes.byteSize() + " bytes has no header");
        }
        return new AttributesPage(Fields.bits32(bytes, 0), Fields.bytes(bytes, HEADER_LENGTH,
                Math.min(BigEndian.int32(bytes, 4), bytes.byteSize() - HEADER_LENGTH)));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[HEADER_LENGTH + fields.length()];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, page);
        BigEndian.int32(bytes, 4, fields.length());
        Fields.bytes(bytes, HEADER_LENGTH, fields);
        return array;
    }
}
