package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.Bytes;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data-out of SANITIZE with OVERWRITE (SBC-4).
 *
 * <pre>
 * 0 INVERT 7, TEST 6-5, OVERWRITE COUNT 4-0   2 initialization pattern length   4 pattern
 * </pre>
 *
 * @param invert INVERT: the pattern is inverted between two passes
 * @param count OVERWRITE COUNT, 1 to 31 passes
 * @param pattern repeated over each block
 */
public record SanitizeOverwrite(boolean invert, int count, Bytes pattern)
        implements
        ParameterData {
    private static final int HEADER_LENGTH = 4;
    private static final int MAX_COUNT = 0x1f;

    public SanitizeOverwrite {
        CdbFields.check("count", count, MAX_COUNT);
    }

    /**
     * Reads the list.
     *
     * @throws IllegalRequestException 24h/00h for a length that cannot be, 26h/00h for a count or a pattern length of
     *         0, for TEST, and for a pattern longer than a block or than the list
     */
    public static SanitizeOverwrite decode(MemorySegment bytes, int blockSize)
            throws IllegalRequestException {
        if (bytes.byteSize() <= HEADER_LENGTH || bytes.byteSize() > HEADER_LENGTH + blockSize) {
            throw InvalidCdbException.field(7);
        }
        int first = BigEndian.int8(bytes, 0);
        int length = BigEndian.int16(bytes, 2);
        if ((first & MAX_COUNT) == 0) {
            throw InvalidParameterListException.field(0, 4);
        }
        if ((first & 0x60) != 0) {
            throw InvalidParameterListException.field(0, 6);
        }
        if (length == 0 || length > blockSize || length > bytes.byteSize() - HEADER_LENGTH) {
            throw InvalidParameterListException.field(2);
        }
        return new SanitizeOverwrite(BigEndian.bit(bytes, 0, 7), first & MAX_COUNT,
                Bytes.of(bytes.asSlice(HEADER_LENGTH, length)));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[HEADER_LENGTH + pattern.length()];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int8(bytes, 0, BigEndian.bit(invert, 7) | count);
        BigEndian.int16(bytes, 2, pattern.length());
        MemorySegment.copy(pattern.segment(), 0, bytes, HEADER_LENGTH, pattern.length());
        return array;
    }
}
