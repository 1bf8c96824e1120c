package lunar.initiator.scsi;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import lunar.block.InvalidRequestException;
import lunar.block.MiscompareException;
import lunar.block.StorageException;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.block.CompareAndWrite;
import lunar.scsi.block.GetLbaStatus;
import lunar.scsi.block.LbaStatusList;
import lunar.scsi.block.OrWrite;
import lunar.scsi.block.PreFetch;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.block.Unmap;
import lunar.scsi.block.UnmapParameterList;
import lunar.scsi.block.UnmapParameterList.Range;
import lunar.scsi.block.VerifyBlocks;
import lunar.scsi.block.WriteAndVerify;
import lunar.scsi.block.WriteAtomic;
import lunar.scsi.block.WriteSame;
import lunar.scsi.vpd.BlockLimits;

/**
 * Commands on blocks of a disk, in addition to reads and writes of {@link lunar.initiator.LunDevice} (SBC-4). Addresses
 * and counts are in blocks. Buffers belong to the caller, contain whole blocks, are not accessed after the call, and
 * need not be native. A count of 0 has no effect, even where the command itself would interpret it as all blocks.
 */
public final class Blocks {
    private static final BlockLimits NO_LIMITS = new BlockLimits(false, 0, 0, 0, 0, 0, 0, 0, 0,
            OptionalLong.empty(), 0, 0);
    private static final long UINT32_MAX = 0xffff_ffffL;
    private static final long UINT16_MAX = 0xffff;
    private static final int MAX_RANGES = 4095;
    private static final int MAX_COMPARED = 0xff;
    private static final int STATUS_HEADER = 8;
    private static final int STATUS_BYTES = 16;
    private static final int MAX_EXTENTS = 65_536;
    private static final int READ_MEDIUM = 0;
    private static final int COMPARE = 1;

    private final ScsiUnit unit;
    private final Calls calls;
    private volatile BlockLimits limits = NO_LIMITS;

    Blocks(ScsiUnit unit) {
        this.unit = unit;
        calls = unit.calls();
    }

    /** Returns Block Limits (VPD page B0h), read once; all numbers are 0 (not reported) if the page does not exist. */
    public BlockLimits limits() throws StorageException {
        BlockLimits known = limits;
        if (known.equals(NO_LIMITS)) {
            known = unit.inquiry().find(BlockLimits.CODE, BlockLimits.class).orElse(NO_LIMITS);
            limits = known;
        }
        return known;
    }

    // --- provisioning ---

    /**
     * UNMAP (SBC-4 section 5.35) of many ranges, by as many commands as the unit's limits need. After a failure some of
     * them may be unmapped.
     *
     * @param anchor whether the blocks become anchored rather than deallocated
     */
    public void unmap(List<Range> ranges, boolean anchor) throws StorageException {
        BlockLimits told = limits();
        long maxBlocks = told.maxUnmapBlocks() == 0 ? UINT32_MAX : told.maxUnmapBlocks();
        long maxRanges = told.maxUnmapDescriptors() == 0
                ? MAX_RANGES
                : Math.min(told.maxUnmapDescriptors(), MAX_RANGES);
        var list = new ArrayList<Range>();
        long room = maxBlocks;
        for (Range range : ranges) {
            long done = 0;
            while (done < range.blockCount()) {
                long count = Math.min(room, range.blockCount() - done);
                list.add(new Range(range.lba() + done, count));
                done += count;
                room -= count;
                if (room == 0 || list.size() == maxRanges) {
                    unmapAll(list, anchor);
                    list.clear();
                    room = maxBlocks;
                }
            }
        }
        if (!list.isEmpty()) {
            unmapAll(list, anchor);
        }
    }

    /** UNMAP of one range. */
    public void unmap(long lba, long blockCount) throws StorageException {
        unmap(List.of(new Range(lba, blockCount)), false);
    }

    private void unmapAll(List<Range> ranges, boolean anchor) throws StorageException {
        var list = new UnmapParameterList(ranges);
        calls.send(new Unmap(anchor, 0, list.bytes().length), list);
    }

    /**
     * WRITE SAME (SBC-4 sections 5.52 and 5.53): one block to many, by as many commands as the unit's limits need.
     *
     * @param block the bytes of one block
     * @param unmap whether blocks may be unmapped, where they read the same afterwards
     */
    public void writeSame(long lba, long blockCount, MemorySegment block, boolean unmap)
            throws StorageException {
        if (block.byteSize() != unit.blockSize()) {
            throw new InvalidRequestException(unit + ": WRITE SAME of " + block.byteSize()
                    + " bytes, but a block has " + unit.blockSize());
        }
        same(lba, blockCount, (at, count) -> calls.write(
                new WriteSame(unmap ? CdbForm.CDB16 : form(at, count), at, count, 0, false, unmap,
                        false, 0),
                block));
    }

    /** WRITE SAME(16) with NDOB: zeroes to many blocks, without sending any. */
    public void writeZeroes(long lba, long blockCount, boolean unmap) throws StorageException {
        same(lba, blockCount, (at, count) -> calls.send(
                new WriteSame(CdbForm.CDB16, at, count, 0, false, unmap, true, 0)));
    }

    /** Sends a command for a part of the blocks. */
    @FunctionalInterface
    private interface Part {
        void send(long lba, long blockCount) throws StorageException;
    }

    private void same(long lba, long blockCount, Part part) throws StorageException {
        long told = limits().maxWriteSameBlocks();
        long most = told <= 0 || told > UINT32_MAX ? UINT32_MAX : told;
        for (long done = 0; done < blockCount; done += most) {
            part.send(lba + done, Math.min(most, blockCount - done));
        }
    }

    /**
     * GET LBA STATUS (SBC-4 section 5.6): provisioning of the blocks from {@code lba} on. The last extent may end
     * before the device does; continue from there.
     *
     * @param maxExtents maximum number of extents to return, 1 to 65536
     */
    public List<LbaStatusList.Extent> status(long lba, int maxExtents) throws StorageException {
        if (maxExtents < 1 || maxExtents > MAX_EXTENTS) {
            throw new IllegalArgumentException("extents: " + maxExtents);
        }
        int bytes = STATUS_HEADER + STATUS_BYTES * maxExtents;
        var cdb = new GetLbaStatus(lba, bytes, GetLbaStatus.ALL);
        List<LbaStatusList.Extent> extents = calls.ask(cdb, bytes, LbaStatusList::decode)
                .extents();
        long next = lba; // the first may begin before the requested block
        for (LbaStatusList.Extent extent : extents) {
            long end = extent.lba() + extent.blockCount();
            boolean fits = next == lba
                    ? extent.lba() <= lba && end > lba
                    : extent.lba() == next;
            if (extent.blockCount() == 0 || !fits) {
                throw calls.nonsense(cdb, extent + " instead of one at block " + next, null);
            }
            next = end;
        }
        return extents;
    }

    // --- writes that depend on present data ---

    /**
     * COMPARE AND WRITE (SBC-4 section 5.3): writes where the blocks are as expected, without any other command in
     * between.
     *
     * @param expected up to 255 blocks
     * @param replacement as many
     * @throws MiscompareException if they differ, with the offset of the first byte that does; nothing is written
     */
    public void compareAndWrite(long lba, MemorySegment expected, MemorySegment replacement)
            throws StorageException {
        long count = count(expected, MAX_COMPARED);
        if (replacement.byteSize() != expected.byteSize()) {
            throw new InvalidRequestException(unit + ": COMPARE AND WRITE of "
                    + expected.byteSize() + " and " + replacement.byteSize() + " bytes");
        }
        var both = MemorySegment.ofArray(new byte[(int) (2 * expected.byteSize())]);
        both.copyFrom(expected);
        both.asSlice(expected.byteSize()).copyFrom(replacement);
        calls.write(new CompareAndWrite(lba, (int) count, 0, false, false, 0), both);
    }

    /** ORWRITE(16) (SBC-4 section 5.10): the blocks become themselves or {@code data}, bit by bit. */
    public void orWrite(long lba, MemorySegment data) throws StorageException {
        calls.write(new OrWrite(lba, count(data, UINT32_MAX), 0, false, false, 0), data);
    }

    /**
     * WRITE ATOMIC(16) (SBC-4 section 5.48): writes all or nothing, also where power is lost meanwhile.
     *
     * @param data up to 65535 blocks, and up to {@link BlockLimits#maxAtomicBlocks}
     */
    public void writeAtomic(long lba, MemorySegment data) throws StorageException {
        calls.write(new WriteAtomic(lba, (int) count(data, UINT16_MAX), 0, 0, false, false, 0),
                data);
    }

    // --- verification ---

    /** VERIFY (SBC-4 section 5.36): the unit reads the blocks without sending them. */
    public void verify(long lba, long blockCount) throws StorageException {
        inParts(lba, blockCount, (at, count) -> new VerifyBlocks(form(at, count), at, count, 0,
                false, READ_MEDIUM, 0));
    }

    /**
     * VERIFY with BYTCHK: the unit compares the blocks with data.
     *
     * @throws MiscompareException if they differ, with the offset of the first byte that does, where it is reported
     */
    public void verify(long lba, MemorySegment data) throws StorageException {
        long count = count(data, UINT32_MAX);
        calls.write(new VerifyBlocks(form(lba, count), lba, count, 0, false, COMPARE, 0), data);
    }

    /** WRITE AND VERIFY (SBC-4 section 5.44): writes, then reads what is on the medium. */
    public void writeAndVerify(long lba, MemorySegment data) throws StorageException {
        long count = count(data, UINT32_MAX);
        calls.write(new WriteAndVerify(form(lba, count), lba, count, 0, false, READ_MEDIUM, 0),
                data);
    }

    // --- caches ---

    /** SYNCHRONIZE CACHE (SBC-4 section 5.33) of some blocks; {@code LunDevice.flush} does it for all. */
    public void synchronize(long lba, long blockCount) throws StorageException {
        inParts(lba, blockCount,
                (at, count) -> new SynchronizeCache(form(at, count), at, count, false, 0));
    }

    /** PRE-FETCH (SBC-4 section 5.13): the unit reads blocks into its cache. */
    public void prefetch(long lba, long blockCount) throws StorageException {
        inParts(lba, blockCount,
                (at, count) -> new PreFetch(form(at, count), at, count, false, 0));
    }

    /** Creates the command for a part of the blocks. */
    @FunctionalInterface
    private interface Command {
        Cdb of(long lba, long blockCount);
    }

    private void inParts(long lba, long blockCount, Command command) throws StorageException {
        for (long done = 0; done < blockCount; done += UINT32_MAX) {
            calls.send(command.of(lba + done, Math.min(UINT32_MAX, blockCount - done)));
        }
    }

    /** Returns the number of blocks in a buffer. */
    private long count(MemorySegment data, long most) throws StorageException {
        long size = data.byteSize();
        int blockSize = unit.blockSize();
        if (size == 0 || size % blockSize != 0 || size / blockSize > most) {
            throw new InvalidRequestException(unit + ": " + size + " bytes, but 1 to " + most
                    + " blocks of " + blockSize + " bytes are allowed");
        }
        return size / blockSize;
    }

    /** Returns the shorter of the two forms that all these commands have, where both numbers fit. */
    private static CdbForm form(long lba, long blockCount) {
        return lba >= 0 && lba <= UINT32_MAX && blockCount <= UINT16_MAX
                ? CdbForm.CDB10
                : CdbForm.CDB16;
    }
}
