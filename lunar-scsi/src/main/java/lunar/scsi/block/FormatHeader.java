package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.wire.BigEndian;

/**
 * Parameter list header of FORMAT UNIT, short or long (SBC-4).
 *
 * <pre>
 * short: 0 protection fields usage 2-0   1 FOV 7, DPRY, DCRT, STPF, IP 3, -, IMMED 1   2 defect list length
 * long:  the same                                                     3 protection interval   4 defect list length
 * </pre>
 *
 * @param protectionFields PROTECTION FIELDS USAGE
 * @param formatOptionsValid FOV
 * @param initializationPattern IP
 * @param immediate IMMED: status before the operation has ended
 * @param protectionInterval P_I_INFORMATION and PROTECTION INTERVAL EXPONENT, of the long header
 * @param defectListBytes DEFECT LIST LENGTH
 */
public record FormatHeader(int protectionFields, boolean formatOptionsValid,
        boolean initializationPattern, boolean immediate, int protectionInterval,
        long defectListBytes) {
    /** DPRY, DCRT, STPF and IP, which need FOV. */
    private static final int OPTIONS = 0x78;

    /**
     * Reads a header of 4 or 8 bytes.
     *
     * @throws InvalidParameterListException 1Ah/00h for another length, 26h/00h for options without FOV
     */
    public static FormatHeader decode(MemorySegment bytes) throws InvalidParameterListException {
        boolean isLong = bytes.byteSize() == 8;
        if (!isLong && bytes.byteSize() != 4) {
            throw InvalidParameterListException.length();
        }
        int options = BigEndian.int8(bytes, 1) & OPTIONS;
        if (options != 0 && !BigEndian.bit(bytes, 1, 7)) {
            throw InvalidParameterListException.field(1,
                    Integer.numberOfTrailingZeros(Integer.highestOneBit(options)));
        }
        return new FormatHeader(BigEndian.int8(bytes, 0) & 7, BigEndian.bit(bytes, 1, 7),
                BigEndian.bit(bytes, 1, 3), BigEndian.bit(bytes, 1, 1),
                isLong ? BigEndian.int8(bytes, 3) : 0,
                isLong ? BigEndian.int32(bytes, 4) : BigEndian.int16(bytes, 2));
    }
}
