package lunar.scsi.copy;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import lunar.scsi.AdditionalSense;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * A block device range descriptor (SBC-4 section 5.12.3): blocks from {@code lba} on; their number may be zero.
 *
 * @param lba first block
 * @param blockCount how many
 */
public record BlockRange(long lba, long blockCount) {
    static final int LENGTH = 16;

    public BlockRange {
        CdbFields.check("blockCount", blockCount, 0xffff_ffffL);
    }

    /**
     * Reads the list of ranges of a parameter list; a range that is cut off is left out.
     *
     * @param lengthAt where the length of the list stands, with the list right behind it
     * @throws InvalidParameterListException 26h/08h for too many ranges, 26h/00h for none and for ranges that overlap
     */
    static List<BlockRange> decode(MemorySegment bytes, int lengthAt, int maxRanges)
            throws InvalidParameterListException {
        int from = lengthAt + 2;
        int length = BigEndian.int16(bytes, lengthAt);
        if (length < LENGTH) {
            throw InvalidParameterListException.field(lengthAt);
        }
        int count = (int) Math.min(length, bytes.byteSize() - from) / LENGTH;
        if (count > maxRanges) {
            throw InvalidParameterListException.of(AdditionalSense.TOO_MANY_SEGMENT_DESCRIPTORS,
                    from + maxRanges * LENGTH);
        }
        var ranges = new ArrayList<BlockRange>(count);
        for (int at = from; at < from + count * LENGTH; at += LENGTH) {
            ranges.add(new BlockRange(BigEndian.int64(bytes, at), BigEndian.int32(bytes, at + 8)));
        }
        if (overlap(ranges)) {
            throw InvalidParameterListException.field(from);
        }
        return ranges;
    }

    private static boolean overlap(List<BlockRange> ranges) {
        List<BlockRange> sorted = ranges.stream().filter(range -> range.blockCount > 0)
                .sorted(Comparator.comparingLong(BlockRange::lba)).toList();
        for (int i = 1; i < sorted.size(); i++) {
            BlockRange before = sorted.get(i - 1);
            if (sorted.get(i).lba - before.lba < before.blockCount) {
                return true;
            }
        }
        return false;
    }

    /** Blocks of all of them. */
    public static long count(List<BlockRange> ranges) {
        return ranges.stream().mapToLong(BlockRange::blockCount).sum();
    }

    /** The length of the list and the list. */
    static byte[] encode(List<BlockRange> ranges) {
        var all = new ByteArrayOutputStream();
        int length = ranges.size() * LENGTH;
        all.write(length >> 8);
        all.write(length);
        for (BlockRange range : ranges) {
            byte[] descriptor = new byte[LENGTH];
            BigEndian.int64(MemorySegment.ofArray(descriptor), 0, range.lba);
            BigEndian.int32(MemorySegment.ofArray(descriptor), 8, range.blockCount);
            all.writeBytes(descriptor);
        }
        return all.toByteArray();
    }
}
