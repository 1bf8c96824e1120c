package lunar.osd.wire.data;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.field.Fields;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * The reply of READ MAP.
 *
 * <pre>
 * 0 additional length (8)   8 descriptors: reserved (2), type (2), length (4), offset (8)
 * </pre>
 *
 * @param ranges ranges of the object, by ascending offsets
 */
public record ObjectMap(List<Range> ranges) implements ParameterData {
    /**
     * A range of the object. A longer hole takes several.
     *
     * @param type code of a {@link MapType}, 16 bits
     * @param length bytes, unsigned 32 bits
     * @param offset first byte, unsigned
     */
    public record Range(int type, long length, long offset) {
        public Range {
            Fields.check("type", type, 0xffff);
            Fields.check("length", length, Fields.UINT32_MAX);
        }
    }

    private static final int HEADER_LENGTH = 8;
    private static final int RANGE_LENGTH = 16;

    public ObjectMap {
        ranges = List.copyOf(ranges);
    }

    /**
     * Reads a reply; leaves out the last range if it is truncated.
     *
     * @throws MalformedDataException for less than the header
     */
    public static ObjectMap decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException(
                    "object map of " + bytes.byteSize() + " bytes has no header");
        }
        long present = bytes.byteSize() - HEADER_LENGTH;
        long additional = BigEndian.int64(bytes, 0);
        long end = HEADER_LENGTH
                + (Long.compareUnsigned(additional, present) < 0 ? additional : present);
        var ranges = new ArrayList<Range>();
        for (long at = HEADER_LENGTH; at + RANGE_LENGTH <= end; at += RANGE_LENGTH) {
            ranges.add(new Range(BigEndian.int16(bytes, at + 2), BigEndian.int32(bytes, at + 4),
                    BigEndian.int64(bytes, at + 8)));
        }
        return new ObjectMap(ranges);
    }

    @Override
    public byte[] bytes() {
        int additional = Math.multiplyExact(RANGE_LENGTH, ranges.size());
        byte[] array = new byte[Math.addExact(HEADER_LENGTH, additional)];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int64(bytes, 0, additional);
        long at = HEADER_LENGTH;
        for (Range range : ranges) {
            BigEndian.int16(bytes, at + 2, range.type());
            BigEndian.int32(bytes, at + 4, range.length());
            BigEndian.int64(bytes, at + 8, range.offset());
            at += RANGE_LENGTH;
        }
        return array;
    }
}
