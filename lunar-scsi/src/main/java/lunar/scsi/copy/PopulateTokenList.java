package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data-out of POPULATE TOKEN (SBC-4 section 5.12.2).
 *
 * <pre>
 * 0 data length   2 RTV 1, IMMED 0   4 inactivity timeout   8 ROD type   14 length of the ranges   16 ranges
 * </pre>
 *
 * @param immediate IMMED: status before the operation has ended
 * @param inactivitySeconds INACTIVITY TIMEOUT, 0 for the default
 * @param rodType ROD TYPE, present with RTV
 * @param ranges what the token shall represent, in this order
 */
public record PopulateTokenList(boolean immediate, long inactivitySeconds, OptionalLong rodType,
        List<BlockRange> ranges) implements ParameterData {
    private static final int HEADER_LENGTH = 16;
    private static final int RANGES_LENGTH_AT = 14;
    /** Least POPULATE TOKEN DATA LENGTH: a header and one range. */
    private static final int MIN_DATA_LENGTH = 30;

    public PopulateTokenList {
        CdbFields.check("inactivitySeconds", inactivitySeconds, 0xffff_ffffL);
        ranges = List.copyOf(ranges);
    }

    /**
     * Reads the list. Whether blocks are within the device is the caller's to check.
     *
     * @throws InvalidParameterListException 1Ah/00h for a list that is cut, 26h/08h for too many ranges, 26h/00h for
     *         lengths that cannot be and for ranges that overlap
     */
    public static PopulateTokenList decode(MemorySegment bytes, int maxRanges)
            throws InvalidParameterListException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw InvalidParameterListException.length();
        }
        if (BigEndian.int16(bytes, 0) < MIN_DATA_LENGTH) {
            throw InvalidParameterListException.field(0);
        }
        return new PopulateTokenList(BigEndian.bit(bytes, 2, 0), BigEndian.int32(bytes, 4),
                BigEndian.bit(bytes, 2, 1)
                        ? OptionalLong.of(BigEndian.int32(bytes, 8))
                        : OptionalLong.empty(),
                BlockRange.decode(bytes, RANGES_LENGTH_AT, maxRanges));
    }

    @Override
    public byte[] bytes() {
        byte[] list = BlockRange.encode(ranges);
        byte[] array = new byte[RANGES_LENGTH_AT + list.length];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int16(bytes, 0, array.length - 2);
        BigEndian.int8(bytes, 2,
                BigEndian.bit(rodType.isPresent(), 1) | BigEndian.bit(immediate, 0));
        BigEndian.int32(bytes, 4, inactivitySeconds);
        BigEndian.int32(bytes, 8, rodType.orElse(0));
        System.arraycopy(list, 0, array, RANGES_LENGTH_AT, list.length);
        return array;
    }
}
