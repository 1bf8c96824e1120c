package lunar.scsi.target.block;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.Limits;
import lunar.scsi.AdditionalSense;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.block.Unmap;
import lunar.scsi.block.UnmapParameterList;
import lunar.scsi.block.WriteSame;
import lunar.scsi.target.Access;
import lunar.scsi.target.Buffers;
import lunar.scsi.target.CommandHandler;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.StorageSense;

/** Executes UNMAP and WRITE SAME (SBC-4 sections 5.35 and 5.49). */
final class ProvisioningCommands {
    /** Maximum number of descriptors of an UNMAP, as reported in the Block Limits page. */
    static final int MAX_UNMAP_DESCRIPTORS = 256;
    /**
     * Maximum number of blocks of an UNMAP, regardless of the device: peers consider a larger value an error
     * (libiscsi's suite).
     */
    private static final long MAX_UNMAP_BLOCKS = 1 << 20;
    private static final int PIECE_BYTES = 256 << 10;

    private final BlockDevice device;
    private final DiskUnit disk;
    private final BlockCommands blocks;

    ProvisioningCommands(DiskUnit disk, BlockCommands blocks) {
        this.disk = disk;
        device = disk.device();
        this.blocks = blocks;
    }

    void register(CommandSet commands) {
        commands.add(CommandHandler.of(WriteSame.class, Access.WRITE, this::writeSame)
                .withDataOut(same -> same.noDataOut() ? 0 : device.blockSize()).takingLess()
                .takingLong());
        if (device.supports(Capability.UNMAP)) {
            commands.add(CommandHandler.of(Unmap.class, Access.WRITE, this::unmap)
                    .withDataOut(Unmap::parameterListLength).takingLong());
        }
    }

    /**
     * Returns the maximum number of blocks of an UNMAP, summed over its descriptors (SBC-4 section 6.6.4, MAXIMUM UNMAP
     * LBA COUNT).
     */
    static long maxUnmapBlocks(BlockDevice device) {
        return Math.min(device.limits().maxUnmapBlocks(), MAX_UNMAP_BLOCKS);
    }

    private void unmap(ScsiTask task, Unmap command) {
        if (command.anchor()) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 0)); // anchors are not supported (ANC_SUP 0)
            return;
        }
        if (readOnly(task)) {
            return;
        }
        try {
            List<UnmapParameterList.Range> ranges = UnmapParameterList
                    .decode(task.dataOut(), MAX_UNMAP_DESCRIPTORS,
                            maxUnmapBlocks(device))
                    .ranges();
            for (UnmapParameterList.Range range : ranges) { // validate all ranges before changing any
                if (BlockCommands.refused(task, device, range.lba(), range.blockCount(),
                        Long.MAX_VALUE)) {
                    return;
                }
            }
            unmap(task, ranges, 0, blocks.changeEnding());
        } catch (InvalidParameterListException e) {
            task.checkCondition(e.sense());
        }
    }

    private void unmap(ScsiTask task, List<UnmapParameterList.Range> ranges, int from,
            ScsiTask.Ending then) {
        int at = from;
        while (at < ranges.size() && ranges.get(at).blockCount() == 0) {
            at++;
        }
        if (at == ranges.size()) {
            then.ended(task, null);
            return;
        }
        int next = at + 1;
        task.request().asUnmap(ranges.get(at).lba(), ranges.get(at).blockCount());
        task.submitPiece(device, (_, failure) -> {
            if (failure != null) {
                StorageSense.end(task, failure);
            } else {
                unmap(task, ranges, next, then);
            }
        });
    }

    private void writeSame(ScsiTask task, WriteSame command) {
        if (readOnly(task)) {
            return;
        }
        if (command.protect() != 0 || command.anchor()
                || (command.unmap() && !device.supports(Capability.UNMAP))) {
            task.checkCondition(Sense.invalidFieldInCdb(1,
                    command.protect() != 0 ? 7 : command.anchor() ? 4 : 3));
            return;
        }
        if (BlockCommands.refused(task, device, command.lba(), command.blockCount(),
                Long.MAX_VALUE)) {
            return;
        }
        // A count of 0 means all blocks up to the end, since WSNZ is 0 (SBC-4 section 5.50).
        long count = command.blockCount() == 0
                ? device.blockCount() - command.lba()
                : command.blockCount();
        MemorySegment block = task.dataOut();
        int needed = command.noDataOut() ? 0 : device.blockSize();
        if (task.expectedOutBytes() != needed) {
            task.checkCondition(task.expectedOutBytes() < needed
                    ? ScsiTask.DATA_OUT_TOO_SHORT
                    : Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.INVALID_FIELD_IN_CDB));
            return;
        }
        boolean zeroes = command.noDataOut() || isZero(block.asSlice(0, device.blockSize()));
        // With LBPRZ all blocks read as zeroes afterwards, unmapped or not (SBC-4 section 4.7.3.4.4).
        if (zeroes && command.unmap() && device.supports(Capability.UNMAP_ZEROES)) {
            zeroNext(task, command.lba(), count, true, blocks.changeEnding());
        } else if (zeroes && device.supports(Capability.WRITE_ZEROES)) {
            zeroNext(task, command.lba(), count, false, blocks.changeEnding());
        } else {
            writePattern(task, command, count, block);
        }
    }

    /** Zeroes the next piece, as long as the device accepts. */
    private void zeroNext(ScsiTask task, long lba, long blockCount, boolean unmap,
            ScsiTask.Ending then) {
        if (blockCount == 0 || task.aborted()) {
            then.ended(task, null);
            return;
        }
        long count = Math.min(blockCount, unmap
                ? device.limits().maxUnmapBlocks()
                : device.limits().maxWriteZeroesBlocks());
        if (unmap) {
            task.request().asUnmap(lba, count);
        } else {
            task.request().asWriteZeroes(lba, count, false);
        }
        task.submitPiece(device, (_, failure) -> {
            if (failure != null) {
                StorageSense.end(task, failure);
            } else {
                zeroNext(task, lba + count, blockCount - count, unmap, then);
            }
        });
    }

    private static boolean isZero(MemorySegment block) {
        for (long at = 0; at < block.byteSize(); at += Long.BYTES) {
            if (block.get(ValueLayout.JAVA_LONG_UNALIGNED, at) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Writes the block repeatedly, in pieces. */
    private void writePattern(ScsiTask task, WriteSame command, long blockCount,
            MemorySegment block) {
        Buffers.Buffer room = task.borrow(PIECE_BYTES);
        if (room == null) {
            task.end(Status.BUSY);
            return;
        }
        int size = device.blockSize();
        int most = (int) Math.min(blockCount, PIECE_BYTES / size);
        for (int i = 0; i < most; i++) {
            MemorySegment to = room.memory().asSlice((long) i * size, size);
            if (command.noDataOut()) {
                to.fill((byte) 0);
            } else {
                to.copyFrom(block.asSlice(0, size));
            }
        }
        writeNext(task, command.lba(), blockCount, room, most, blocks.changeEnding());
    }

    private void writeNext(ScsiTask task, long lba, long blockCount, Buffers.Buffer room, int most,
            ScsiTask.Ending then) {
        long count = Math.min(most, blockCount);
        if (count == 0 || task.aborted()) {
            task.giveBack(room);
            then.ended(task, null);
            return;
        }
        task.request().asWrite(lba, count,
                room.memory().asSlice(0, count * device.blockSize()), false);
        task.submitPiece(device, (_, failure) -> {
            if (failure != null) {
                task.giveBack(room);
                StorageSense.end(task, failure);
            } else {
                writeNext(task, lba + count, blockCount - count, room, most, then);
            }
        });
    }

    private boolean readOnly(ScsiTask task) {
        if (disk.writeProtected()) {
            task.checkCondition(Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.WRITE_PROTECTED));
            return true;
        }
        return false;
    }
}
