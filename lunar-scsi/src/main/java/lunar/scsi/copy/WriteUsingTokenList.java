package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data-out of WRITE USING TOKEN (SBC-4 section 5.59.2).
 *
 * <pre>
 * 0 data length   2 DEL_TKN 1, IMMED 0   8 offset into ROD   16 ROD token   534 length of the ranges   536 ranges
 * </pre>
 *
 * @param immediate IMMED: status before the operation has ended
 * @param deleteToken DEL_TKN: the token is of no use afterwards
 * @param offset OFFSET INTO ROD in blocks of the destination; an unsigned number
 * @param token ROD TOKEN, 512 bytes
 * @param ranges where to write, in this order
 */
public record WriteUsingTokenList(boolean immediate, boolean deleteToken, long offset, Bytes token,
        List<BlockRange> ranges) implements ParameterData {
    /** Where OFFSET INTO ROD stands, for a pointer at it. */
    public static final int OFFSET_AT = 8;

    private static final int TOKEN_AT = 16;
    private static final int RANGES_LENGTH_AT = 534;
    private static final int HEADER_LENGTH = 536;
    /** Least WRITE USING TOKEN DATA LENGTH: a header and one range. */
    private static final int MIN_DATA_LENGTH = 550;

    public WriteUsingTokenList {
        CdbFields.check("length of the token", token.length(), RodToken.LENGTH);
        ranges = List.copyOf(ranges);
    }

    /** Bytes of a list with so many ranges. */
    public static int length(int ranges) {
        return HEADER_LENGTH + ranges * BlockRange.LENGTH;
    }

    /**
     * Reads the list. Whether blocks are within the device, and the token any good, is the caller's to check.
     *
     * @throws InvalidParameterListException 1Ah/00h for a list that is cut, 26h/08h for too many ranges, 26h/00h for
     *         lengths that cannot be and for ranges that overlap
     */
    public static WriteUsingTokenList decode(MemorySegment bytes, int maxRanges)
            throws InvalidParameterListException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw InvalidParameterListException.length();
        }
        if (BigEndian.int16(bytes, 0) < MIN_DATA_LENGTH) {
            throw InvalidParameterListException.field(0);
        }
        return new WriteUsingTokenList(BigEndian.bit(bytes, 2, 0), BigEndian.bit(bytes, 2, 1),
                BigEndian.int64(bytes, OFFSET_AT),
                Bytes.of(bytes.asSlice(TOKEN_AT, RodToken.LENGTH)),
                BlockRange.decode(bytes, RANGES_LENGTH_AT, maxRanges));
    }

    @Override
    public byte[] bytes() {
        byte[] list = BlockRange.encode(ranges);
        byte[] array = new byte[RANGES_LENGTH_AT + list.length];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int16(bytes, 0, array.length - 2);
        BigEndian.int8(bytes, 2, BigEndian.bit(deleteToken, 1) | BigEndian.bit(immediate, 0));
        BigEndian.int64(bytes, OFFSET_AT, offset);
        MemorySegment.copy(token.segment(), 0, bytes, TOKEN_AT, token.length());
        System.arraycopy(list, 0, array, RANGES_LENGTH_AT, list.length);
        return array;
    }
}
