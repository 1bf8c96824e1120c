package lunar.osd.wire.data;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * The reply of QUERY. Published descriptions contradict each other about where the identifiers start; this is what the
 * OSC's target and initiator do.
 *
 * <pre>
 * 0 additional length (8)   12 object descriptor format, 7..2: 21h   13 User_Object_IDs (8 each)
 * </pre>
 *
 * @param additionalLength bytes of the complete list behind this field, also if the reply is truncated; unsigned
 * @param ids identifiers of the objects that match, unsigned
 */
public record QueryMatches(long additionalLength, List<Long> ids) implements ParameterData {
    private static final int FORMAT_AT = 12;
    private static final int USER_OBJECTS = 0x21 << 2;
    private static final int FORMAT_MASK = 0xfc;
    private static final int IDS_AT = 13;
    private static final int UNCOUNTED = 8;
    private static final int ID_LENGTH = 8;

    public QueryMatches {
        ids = List.copyOf(ids);
    }

    /** A complete reply. */
    public static QueryMatches of(List<Long> ids) {
        return new QueryMatches(IDS_AT - UNCOUNTED + (long) ID_LENGTH * ids.size(), ids);
    }

    /**
     * Reads a reply; leaves out the last identifier if it is truncated.
     *
     * @throws MalformedDataException for less than the header, or another object descriptor format
     */
    public static QueryMatches decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < IDS_AT) {
            throw new MalformedDataException(
                    "query matches of " + bytes.byteSize() + " bytes have no header");
        }
        int format = BigEndian.int8(bytes, FORMAT_AT) & FORMAT_MASK;
        if (format != USER_OBJECTS) {
            throw new MalformedDataException(
                    String.format("object descriptor format %02Xh", format >> 2));
        }
        long additional = BigEndian.int64(bytes, 0);
        long end = Long.compareUnsigned(additional, bytes.byteSize() - UNCOUNTED) < 0
                ? additional + UNCOUNTED
                : bytes.byteSize();
        var ids = new ArrayList<Long>();
        for (long at = IDS_AT; at + ID_LENGTH <= end; at += ID_LENGTH) {
            ids.add(BigEndian.int64(bytes, at));
        }
        return new QueryMatches(additional, ids);
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[Math.addExact(IDS_AT,
                Math.multiplyExact(ID_LENGTH, ids.size()))];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int64(bytes, 0, additionalLength);
        BigEndian.int8(bytes, FORMAT_AT, USER_OBJECTS);
        for (int i = 0; i < ids.size(); i++) {
            BigEndian.int64(bytes, IDS_AT + (long) i * ID_LENGTH, ids.get(i));
        }
        return array;
    }
}
