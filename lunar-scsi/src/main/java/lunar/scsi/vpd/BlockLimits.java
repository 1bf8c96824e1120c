package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import java.util.OptionalLong;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * VPD page B0h (SBC-4). Zero stands for a limit that is not told; for UNMAP it means that the
 * command is not there.
 *
 * @param writeSameNonZero WSNZ: WRITE SAME needs a number of blocks
 * @param maxCompareAndWriteBlocks MAXIMUM COMPARE AND WRITE LENGTH, to 255
 * @param optimalGranularityBlocks OPTIMAL TRANSFER LENGTH GRANULARITY
 * @param maxTransferBlocks MAXIMUM TRANSFER LENGTH
 * @param optimalTransferBlocks OPTIMAL TRANSFER LENGTH
 * @param maxPrefetchBlocks MAXIMUM PREFETCH LENGTH
 * @param maxUnmapBlocks MAXIMUM UNMAP LBA COUNT
 * @param maxUnmapDescriptors MAXIMUM UNMAP BLOCK DESCRIPTOR COUNT
 * @param optimalUnmapBlocks OPTIMAL UNMAP GRANULARITY
 * @param unmapAlignmentBlocks UNMAP GRANULARITY ALIGNMENT, present with UGAVALID
 * @param maxWriteSameBlocks MAXIMUM WRITE SAME LENGTH
 * @param maxAtomicBlocks MAXIMUM ATOMIC TRANSFER LENGTH, with and without an atomic boundary
 */
public record BlockLimits(boolean writeSameNonZero, int maxCompareAndWriteBlocks,
        int optimalGranularityBlocks, long maxTransferBlocks, long optimalTransferBlocks,
        long maxPrefetchBlocks, long maxUnmapBlocks, long maxUnmapDescriptors,
        long optimalUnmapBlocks, OptionalLong unmapAlignmentBlocks, long maxWriteSameBlocks,
        long maxAtomicBlocks)
        implements
        VpdPage {
    public static final int CODE = 0xb0;

    private static final int LENGTH = 60;
    private static final long UINT32_MAX = 0xffff_ffffL;
    private static final long ALIGNMENT_MAX = 0x7fff_ffffL;
    private static final int ALIGNMENT = 28;
    private static final int ATOMIC = 40;

    public BlockLimits {
        CdbFields.check("maxCompareAndWriteBlocks", maxCompareAndWriteBlocks, 0xff);
        CdbFields.check("optimalGranularityBlocks", optimalGranularityBlocks, 0xffff);
        CdbFields.check("maxTransferBlocks", maxTransferBlocks, UINT32_MAX);
        CdbFields.check("optimalTransferBlocks", optimalTransferBlocks, UINT32_MAX);
        CdbFields.check("maxPrefetchBlocks", maxPrefetchBlocks, UINT32_MAX);
        CdbFields.check("maxUnmapBlocks", maxUnmapBlocks, UINT32_MAX);
        CdbFields.check("maxUnmapDescriptors", maxUnmapDescriptors, UINT32_MAX);
        CdbFields.check("optimalUnmapBlocks", optimalUnmapBlocks, UINT32_MAX);
        CdbFields.check("maxAtomicBlocks", maxAtomicBlocks, UINT32_MAX);
        CdbFields.check("unmapAlignmentBlocks", unmapAlignmentBlocks.orElse(0), ALIGNMENT_MAX);
    }

    static BlockLimits decode(MemorySegment content) {
        MemorySegment bytes = BigEndian.padded(content, LENGTH);
        long alignment = BigEndian.int32(bytes, ALIGNMENT);
        return new BlockLimits(BigEndian.bit(bytes, 0, 0), BigEndian.int8(bytes, 1),
                BigEndian.int16(bytes, 2), BigEndian.int32(bytes, 4), BigEndian.int32(bytes, 8),
                BigEndian.int32(bytes, 12), BigEndian.int32(bytes, 16), BigEndian.int32(bytes, 20),
                BigEndian.int32(bytes, 24),
                alignment > ALIGNMENT_MAX
                        ? OptionalLong.of(alignment & ALIGNMENT_MAX)
                        : OptionalLong.empty(),
                BigEndian.int64(bytes, 32), BigEndian.int32(bytes, ATOMIC));
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() {
        byte[] content = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(content);
        BigEndian.int8(bytes, 0, BigEndian.bit(writeSameNonZero, 0));
        BigEndian.int8(bytes, 1, maxCompareAndWriteBlocks);
        BigEndian.int16(bytes, 2, optimalGranularityBlocks);
        BigEndian.int32(bytes, 4, maxTransferBlocks);
        BigEndian.int32(bytes, 8, optimalTransferBlocks);
        BigEndian.int32(bytes, 12, maxPrefetchBlocks);
        BigEndian.int32(bytes, 16, maxUnmapBlocks);
        BigEndian.int32(bytes, 20, maxUnmapDescriptors);
        BigEndian.int32(bytes, 24, optimalUnmapBlocks);
        unmapAlignmentBlocks.ifPresent(
                value -> BigEndian.int32(bytes, ALIGNMENT, ALIGNMENT_MAX + 1 | value));
        BigEndian.int64(bytes, 32, maxWriteSameBlocks);
        BigEndian.int32(bytes, ATOMIC, maxAtomicBlocks);
        return content;
    }
}
