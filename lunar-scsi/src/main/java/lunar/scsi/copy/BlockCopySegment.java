package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import lunar.scsi.AdditionalSense;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Copy from block device to block device (SPC-5 section 6.4.6.3), the segment that hosts use.
 *
 * <pre>
 * 0 02h   1 DC 1, CAT 0   2 descriptor length (18h)   4 source CSCD   6 destination CSCD   10 number of blocks
 * 12 source LBA   20 destination LBA
 * </pre>
 *
 * @param destinationCount DC: the number of blocks is one of destination blocks rather than of source blocks
 * @param concatenate CAT: what is left of it is for the next segment
 * @param source index of the CSCD descriptor, or {@link CscdDescriptor#THIS_UNIT}
 * @param destination likewise
 * @param blockCount BLOCK DEVICE NUMBER OF BLOCKS
 */
public record BlockCopySegment(boolean destinationCount, boolean concatenate, int source,
        int destination, int blockCount, long sourceLba, long destinationLba)
        implements
        ParameterData {
    /** DESCRIPTOR TYPE CODE. */
    public static final int TYPE = 0x02;
    /** Bytes of the descriptor. */
    public static final int LENGTH = 28;
    /** Where the fields stand, for a pointer at one in error. */
    public static final int SOURCE_AT = 4;
    public static final int DESTINATION_AT = 6;
    public static final int BLOCK_COUNT_AT = 10;
    public static final int SOURCE_LBA_AT = 12;
    public static final int DESTINATION_LBA_AT = 20;

    private static final int HEADER_LENGTH = 4;

    public BlockCopySegment {
        CdbFields.check("source", source, 0xffff);
        CdbFields.check("destination", destination, 0xffff);
        CdbFields.check("blockCount", blockCount, 0xffff);
    }

    /**
     * Reads a descriptor of a parameter list.
     *
     * @param at where it starts
     * @param end where the list of segment descriptors ends
     * @throws InvalidParameterListException 26h/09h for another type, 26h/00h for a wrong length
     */
    static BlockCopySegment decode(MemorySegment list, int at, int end)
            throws InvalidParameterListException {
        if (BigEndian.int8(list, at) != TYPE) {
            throw InvalidParameterListException.of(
                    AdditionalSense.UNSUPPORTED_SEGMENT_DESCRIPTOR_TYPE, at);
        }
        if (end - at < LENGTH) {
            throw InvalidParameterListException.field(at);
        }
        if (BigEndian.int16(list, at + 2) != LENGTH - HEADER_LENGTH) {
            throw InvalidParameterListException.field(at + 2);
        }
        return new BlockCopySegment(BigEndian.bit(list, at + 1, 1), BigEndian.bit(list, at + 1, 0),
                BigEndian.int16(list, at + SOURCE_AT), BigEndian.int16(list, at + DESTINATION_AT),
                BigEndian.int16(list, at + BLOCK_COUNT_AT),
                BigEndian.int64(list, at + SOURCE_LBA_AT),
                BigEndian.int64(list, at + DESTINATION_LBA_AT));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int8(bytes, 0, TYPE);
        BigEndian.int8(bytes, 1,
                BigEndian.bit(destinationCount, 1) | BigEndian.bit(concatenate, 0));
        BigEndian.int16(bytes, 2, LENGTH - HEADER_LENGTH);
        BigEndian.int16(bytes, SOURCE_AT, source);
        BigEndian.int16(bytes, DESTINATION_AT, destination);
        BigEndian.int16(bytes, BLOCK_COUNT_AT, blockCount);
        BigEndian.int64(bytes, SOURCE_LBA_AT, sourceLba);
        BigEndian.int64(bytes, DESTINATION_LBA_AT, destinationLba);
        return array;
    }
}
