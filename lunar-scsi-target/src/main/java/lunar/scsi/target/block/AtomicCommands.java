package lunar.scsi.target.block;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.MiscompareException;
import lunar.block.StorageException;
import lunar.scsi.Sense;
import lunar.scsi.block.OrWrite;
import lunar.scsi.block.WriteAtomic;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.ScsiTask;

/**
 * Executes atomic writes (SBC-4 sections 4.29, 5.20 and 5.37). WRITE ATOMIC is one device request, and is supported by
 * devices with {@link Capability#ATOMIC_WRITE}: memory, which does not outlive a crash, and files, which log the write
 * first. ORWRITE is atomic for each block: concurrent ORWRITEs lose no bits of each other, and do not overwrite a
 * concurrent write.
 */
final class AtomicCommands {
    private final BlockDevice device;
    private final BlockCommands blocks;
    private final int maxTransferBlocks;

    AtomicCommands(BlockDevice device, BlockCommands blocks, int maxTransferBlocks) {
        this.device = device;
        this.blocks = blocks;
        this.maxTransferBlocks = maxTransferBlocks;
    }

    void register(CommandSet commands) {
        if (device.supports(Capability.ATOMIC_WRITE)) {
            commands.on(WriteAtomic.class, Access.WRITE,
                    write -> (long) write.blockCount() * device.blockSize(), this::writeAtomic);
        }
        if (device.supports(Capability.COMPARE_AND_WRITE)) {
            commands.on(OrWrite.class, Access.WRITE,
                    write -> write.blockCount() * device.blockSize(), this::orWrite);
        }
    }

    /** Returns the maximum length of WRITE ATOMIC in blocks; 0 if not supported. */
    static int maxAtomicBlocks(BlockDevice device, int maxTransferBlocks) {
        return device.supports(Capability.ATOMIC_WRITE)
                ? Math.min(Math.min(maxTransferBlocks, 0xffff),
                        device.limits().maxAtomicWriteBlocks())
                : 0;
    }

    private void writeAtomic(ScsiTask task, WriteAtomic command) {
        if (blocks.refusedWrite(task, command.lba(), command.blockCount(),
                maxAtomicBlocks(device, maxTransferBlocks))) {
            return;
        }
        if (command.protect() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 7));
        } else if (command.boundaryBlocks() != 0) { // MAXIMUM ATOMIC BOUNDARY SIZE is 0
            task.checkCondition(Sense.invalidFieldInCdb(10, 7));
        } else if (task.dataOut().byteSize() < (long) command.blockCount() * device.blockSize()) {
            task.checkCondition(Sense.invalidFieldInCdb(12, 7)); // a truncated write would not be atomic
        } else {
            write(task, command);
        }
    }

    private void write(ScsiTask task, WriteAtomic command) {
        if (command.blockCount() == 0) {
            task.good();
            return;
        }
        boolean withFua = blocks.writesWithFua(command.fua());
        task.request().asAtomicWrite(command.lba(), command.blockCount(), task.dataOut()
                .asSlice(0, (long) command.blockCount() * device.blockSize()),
                withFua);
        task.submit(device, blocks.writeEnding(command.fua(), withFua));
    }

    private void orWrite(ScsiTask task, OrWrite command) {
        if (blocks.refusedWrite(task, command.lba(), command.blockCount(), maxTransferBlocks)) {
            return;
        }
        if (command.protect() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 7));
            return;
        }
        MemorySegment data = task.dataOut();
        long count = data.byteSize() / device.blockSize();
        task.work(() -> {
            or(task, command, data.asSlice(0, count * device.blockSize()));
            return ScsiTask::good;
        });
    }

    /**
     * Reads, merges, and writes by atomic compare-and-write in pieces, so that each block is updated as SBC-4 requires
     * despite concurrent commands.
     */
    private void or(ScsiTask task, OrWrite command, MemorySegment data) throws StorageException {
        int block = device.blockSize();
        int most = device.limits().maxCompareAndWriteBlocks();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment both = arena.allocate(2L * most * block, 4096);
            for (long at = 0; at < data.byteSize() && !task.aborted();) {
                long bytes = Math.min((long) most * block, data.byteSize() - at);
                merge(task, command.lba() + at / block, data.asSlice(at, bytes),
                        both.asSlice(0, 2 * bytes));
                at += bytes;
            }
        }
        if (command.fua()) {
            device.execute(task.request().asFlush());
        }
    }

    private void merge(ScsiTask task, long lba, MemorySegment data, MemorySegment both)
            throws StorageException {
        long bytes = data.byteSize();
        long blockCount = bytes / device.blockSize();
        while (!task.aborted()) {
            // Use the task's request, so that an error is reported for its block.
            device.execute(task.request().asRead(lba, blockCount, both.asSlice(0, bytes)));
            for (long i = 0; i < bytes; i += Long.BYTES) {
                long is = both.get(ValueLayout.JAVA_LONG_UNALIGNED, i);
                both.set(ValueLayout.JAVA_LONG_UNALIGNED, bytes + i,
                        is | data.get(ValueLayout.JAVA_LONG_UNALIGNED, i));
            }
            try {
                device.execute(
                        task.request().asCompareAndWrite(lba, blockCount, both, false));
                return;
            } catch (MiscompareException _) {
                // A concurrent write changed the blocks: retry with the present content.
            }
        }
    }
}
