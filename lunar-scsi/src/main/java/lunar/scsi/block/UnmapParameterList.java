package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data-out of UNMAP (SBC-4).
 *
 * <pre>
 * 0 UNMAP data length   2 block descriptor data length   8 descriptors: LBA (8), number of blocks (4), reserved (4)
 * </pre>
 *
 * @param ranges what to unmap
 */
public record UnmapParameterList(List<Range> ranges) implements ParameterData {
    /** Blocks from {@code lba} on; their number may be zero. */
    public record Range(long lba, long blockCount) {
        public Range {
            CdbFields.check("blockCount", blockCount, 0xffff_ffffL);
        }
    }

    private static final int HEADER_LENGTH = 8;
    private static final int RANGE_LENGTH = 16;
    private static final int MAX_RANGES = (0xffff - HEADER_LENGTH) / RANGE_LENGTH;

    public UnmapParameterList {
        CdbFields.check("number of ranges", ranges.size(), MAX_RANGES);
        ranges = List.copyOf(ranges);
    }

    /**
     * Reads the list, which has PARAMETER LIST LENGTH bytes. Whether blocks are within the device is the
     * caller's to check.
     *
     * @param maxRanges MAXIMUM UNMAP BLOCK DESCRIPTOR COUNT
     * @param maxBlocks MAXIMUM UNMAP LBA COUNT, of all ranges together
     * @throws InvalidParameterListException 1Ah/00h for a list that is cut, 26h/00h for lengths that contradict
     *         each other and for more than the limits allow
     */
    public static UnmapParameterList decode(MemorySegment bytes, long maxRanges, long maxBlocks)
            throws InvalidParameterListException {
        if (bytes.byteSize() == 0) {
            return new UnmapParameterList(List.of()); // no error (SBC-4)
        }
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw InvalidParameterListException.length();
        }
        int descriptorBytes = BigEndian.int16(bytes, 2);
        if (HEADER_LENGTH + descriptorBytes > bytes.byteSize()) {
            throw InvalidParameterListException.length();
        }
        if (BigEndian.int16(bytes, 0) + 2 < HEADER_LENGTH + descriptorBytes) {
            throw InvalidParameterListException.field(0);
        }
        int count = descriptorBytes / RANGE_LENGTH; // a part of one at the end is ignored
        if (count > maxRanges) {
            throw InvalidParameterListException.field(2);
        }
        var ranges = new ArrayList<Range>(count);
        long blocks = 0;
        for (int i = 0; i < count; i++) {
            int at = HEADER_LENGTH + i * RANGE_LENGTH;
            var range = new Range(BigEndian.int64(bytes, at), BigEndian.int32(bytes, at + 8));
            blocks += range.blockCount();
            if (blocks > maxBlocks) {
                throw InvalidParameterListException.field(at + 8);
            }
            ranges.add(range);
        }
        return new UnmapParameterList(ranges);
    }

    @Override
    public byte[] bytes() {
        int descriptorBytes = RANGE_LENGTH * ranges.size();
        byte[] array = new byte[HEADER_LENGTH + descriptorBytes];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int16(bytes, 0, HEADER_LENGTH - 2 + descriptorBytes);
        BigEndian.int16(bytes, 2, descriptorBytes);
        for (int i = 0; i < ranges.size(); i++) {
            int at = HEADER_LENGTH + i * RANGE_LENGTH;
            BigEndian.int64(bytes, at, ranges.get(i).lba());
            BigEndian.int32(bytes, at + 8, ranges.get(i).blockCount());
        }
        return array;
    }
}
