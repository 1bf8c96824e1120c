package lunar.scsi.target.block;

import java.lang.foreign.MemorySegment;
import java.util.OptionalLong;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.Limits;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.StandardCdb;
import lunar.scsi.Status;
import lunar.scsi.block.BlockCdb;
import lunar.scsi.block.CompareAndWrite;
import lunar.scsi.block.PreFetch;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.block.VerifyBlocks;
import lunar.scsi.block.WriteAndVerify;
import lunar.scsi.block.WriteAtomic;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.target.Access;
import lunar.scsi.target.Buffers;
import lunar.scsi.target.CommandHandler;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.ReaderRule;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.StorageSense;
import org.jspecify.annotations.Nullable;

/** Executes commands that read, write, compare and flush blocks (SBC-4 chapter 5). */
final class BlockCommands {
    /** Piece size of a verify, which therefore needs no length limit. */
    private static final int VERIFY_BYTES = 256 << 10;

    private final BlockDevice device;
    private final DiskUnit disk;
    private final int maxTransferBlocks;
    private final LogCounters.Family verifies;
    private final DiskModes modes;
    private final ScsiTask.Ending flushed = (task, failure) -> flushed(task, failure, 0);
    private final ScsiTask.Ending flushingEnding = this::flushAfter;
    private final ScsiTask.Ending cachedChangeEnded = this::cachedChangeEnded;

    BlockCommands(DiskUnit disk, int maxTransferBlocks) {
        this.disk = disk;
        device = disk.device();
        verifies = disk.counters().verifies;
        modes = disk.modes();
        this.maxTransferBlocks = maxTransferBlocks;
    }

    void register(CommandSet commands) {
        int block = device.blockSize();
        commands.on(ReadBlocks.class, Access.READ,
                (task, read) -> read(task, read.lba(), read.blockCount(), read.protect()))
                .add(CommandHandler.<WriteBlocks>of(WriteBlocks.class, Access.WRITE,
                        (task, write) -> write(task, write.lba(), write.blockCount(),
                                write.protect(), write.fua()))
                        .withDataOut(write -> write.blockCount() * block).takingLess())
                .add(CommandHandler.of(SynchronizeCache.class, Access.WRITE, this::synchronize)
                        .forReaders(ReaderRule.ALLOWED) // changes no data; hosts send it to every disk
                        .takingLong())
                .add(CommandHandler.of(VerifyBlocks.class, Access.READ, this::verify)
                        .withDataOut(this::verifyBytes).takingLong())
                .on(PreFetch.class, Access.READ, this::prefetch)
                .add(CommandHandler.of(WriteAndVerify.class, Access.WRITE, this::writeAndVerify)
                        .withDataOut(write -> write.blockCount() * block).takingLess()
                        .takingLong());
        if (device.supports(Capability.COMPARE_AND_WRITE)) {
            commands.add(CommandHandler
                    .of(CompareAndWrite.class, Access.WRITE, this::compareAndWrite)
                    .withDataOut(compare -> 2L * compare.blockCount() * block).takingLess());
        }
    }

    // --- plain READ and WRITE: decoded in place, so that the common command costs no allocation ---

    /** Accepts the command if it is a plain READ or WRITE. */
    boolean acceptPlain(ScsiTask task) {
        MemorySegment cdb = task.cdbBytes();
        int opcode = BlockCdb.opcode(cdb, 0);
        boolean write = BlockCdb.opcodeIsWrite(opcode);
        if (!(write || BlockCdb.opcodeIsRead(opcode)) || !BlockCdb.isPlain(cdb, 0)) {
            return false;
        }
        task.acceptPlain(write ? BlockCdb.blockCount(cdb, 0) * device.blockSize() : 0);
        return true;
    }

    /** Returns what a READ is to read; other commands that access the medium have no data-in. */
    long dataInBytes(ScsiTask task) {
        if (task.isPlain()) {
            return isPlainWrite(task)
                    ? 0
                    : BlockCdb.blockCount(task.cdbBytes(), 0) * device.blockSize();
        }
        return task.cdb() instanceof ReadBlocks read ? read.blockCount() * device.blockSize() : 0;
    }

    static Access plainAccess(ScsiTask task) {
        return isPlainWrite(task) ? Access.WRITE : Access.READ;
    }

    private static boolean isPlainWrite(ScsiTask task) {
        return BlockCdb.opcodeIsWrite(BlockCdb.opcode(task.cdbBytes(), 0));
    }

    /** Whether the status of a plain command guarantees that data is stable. */
    boolean vouches(ScsiTask task) {
        return isPlainWrite(task)
                && (BlockCdb.fua(task.cdbBytes(), 0) || modes.writeThrough());
    }

    void executePlain(ScsiTask task) {
        MemorySegment cdb = task.cdbBytes();
        long lba = BlockCdb.lba(cdb, 0);
        long count = BlockCdb.blockCount(cdb, 0);
        if (isPlainWrite(task)) {
            write(task, lba, count, 0, BlockCdb.fua(cdb, 0));
        } else {
            read(task, lba, count, 0);
        }
    }

    // --- reading and writing ---

    private void read(ScsiTask task, long lba, long blockCount, int protect) {
        if (refused(task, lba, blockCount, maxTransferBlocks)) {
            return;
        }
        if (protect != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 7));
            return;
        }
        int bytes = (int) blockCount * device.blockSize();
        if (device.prefersTransfer(lba * device.blockSize(), bytes)
                && task.transferDataIn(device, lba * device.blockSize())) {
            task.good(bytes);
            return;
        }
        MemorySegment room = task.roomForDataIn(bytes);
        if (room == null) {
            task.end(Status.BUSY);
            return;
        }
        if (bytes == 0) {
            task.good();
            return;
        }
        task.request().asRead(lba, blockCount, room);
        task.submit(device, BlockCommands::readEnded);
    }

    private static void readEnded(ScsiTask task, @Nullable StorageException failure) {
        if (failure != null) {
            StorageSense.end(task, failure);
        } else {
            task.good((int) task.request().buffer().byteSize());
        }
    }

    private void write(ScsiTask task, long lba, long blockCount, int protect, boolean fua) {
        if (refusedWrite(task, lba, blockCount, maxTransferBlocks)) {
            return;
        }
        if (protect != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 7));
            return;
        }
        write(task, lba, blockCount, fua);
    }

    /** Writes data-out to a range that has been checked. */
    void write(ScsiTask task, long lba, long blockCount, boolean fua) {
        MemorySegment data = task.dataOut();
        if (refusedPart(task, data, blockCount)) {
            return;
        }
        long count = data.byteSize() / device.blockSize();
        if (count == 0) {
            task.good();
            return;
        }
        boolean withFua = writesWithFua(fua);
        task.request().asWrite(lba, count, data, withFua);
        task.submit(device, writeEnding(fua, withFua));
    }

    /** Whether a write sets FUA at the device: if its command does, or while the write cache is off. */
    boolean writesWithFua(boolean fua) {
        return (fua || modes.writeThrough()) && device.supports(Capability.FUA);
    }

    /** Returns the ending of a command that changes blocks by a single write, with FUA or without. */
    ScsiTask.Ending writeEnding(boolean fua, boolean withFua) {
        if (withFua) {
            return BlockCommands::ended;
        }
        return fua ? flushingEnding : changeEnding();
    }

    /**
     * Rejects a write with a partial block or without declared data-out. If less data-out than the CDB needs was sent,
     * its whole blocks are written and the overflow is reported (RFC 7143 section 11.4.5, FCP-4 section 9.4.2).
     */
    private boolean refusedPart(ScsiTask task, MemorySegment data, long blockCount) {
        boolean refused = data.byteSize() % device.blockSize() != 0
                || (blockCount > 0 && !task.declaresDataOut());
        if (refused) {
            task.checkCondition(ScsiTask.DATA_OUT_TOO_SHORT);
        }
        return refused;
    }

    private void compareAndWrite(ScsiTask task, CompareAndWrite command) {
        if (refusedWrite(task, command.lba(), command.blockCount(),
                maxCompareAndWriteBlocks(device))) {
            return;
        }
        if (command.protect() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 7));
            return;
        }
        MemorySegment data = task.dataOut();
        long needed = 2L * command.blockCount() * device.blockSize();
        if (task.expectedOutBytes() != needed) {
            task.checkCondition(task.expectedOutBytes() < needed
                    ? ScsiTask.DATA_OUT_TOO_SHORT
                    : Sense.invalidFieldInCdb(13, 7));
            return;
        }
        if (command.blockCount() == 0) {
            task.good();
            return;
        }
        task.request().asCompareAndWrite(command.lba(), command.blockCount(), data, command.fua());
        task.submit(device, changeEnding());
    }

    /**
     * Returns the maximum length of COMPARE AND WRITE in blocks; less than its field can hold, so that a longer command
     * is detected.
     */
    static int maxCompareAndWriteBlocks(BlockDevice device) {
        return Math.min(device.limits().maxCompareAndWriteBlocks(), 128);
    }

    private void synchronize(ScsiTask task, SynchronizeCache command) {
        if (!refused(task, command.lba(), command.blockCount(), Long.MAX_VALUE)) {
            flush(task);
        }
    }

    void flush(ScsiTask task) {
        long uncounted = disk.uncountedLosses();
        task.request().asFlush();
        task.submit(device, uncounted == 0
                ? flushed
                : (same, failure) -> flushed(same, failure, uncounted));
    }

    private void flushed(ScsiTask task, @Nullable StorageException failure, long uncounted) {
        if (failure == null && !task.aborted()) {
            disk.flushed(task.nexus(), uncounted);
        }
        ended(task, failure);
    }

    private void flushAfter(ScsiTask task, @Nullable StorageException failure) {
        if (failure != null) {
            StorageSense.end(task, failure);
        } else {
            flush(task);
        }
    }

    /**
     * Returns the ending of a command that is about to submit its first change. With the write cache off, a flush makes
     * the change stable; a failed flush does not identify blocks. The cache may also be switched off before the change
     * ends, but too late for the flush of that switch.
     */
    ScsiTask.Ending changeEnding() {
        return modes.writeThrough() ? flushingEnding : cachedChangeEnded;
    }

    private void cachedChangeEnded(ScsiTask task, @Nullable StorageException failure) {
        if (failure == null && modes.writeThrough()) {
            flush(task);
        } else {
            ended(task, failure);
        }
    }

    static void ended(ScsiTask task, @Nullable StorageException failure) {
        if (failure != null) {
            StorageSense.end(task, failure);
        } else {
            task.good();
        }
    }

    /**
     * Ends with CONDITION MET, which says that all blocks fit the cache (SBC-4 section 5.12); the page cache needs no
     * hint.
     */
    private void prefetch(ScsiTask task, PreFetch command) {
        if (!refused(task, command.lba(), command.blockCount(), Long.MAX_VALUE)) {
            task.end(Status.CONDITION_MET);
        }
    }

    private void verify(ScsiTask task, VerifyBlocks command) {
        if (refused(task, command.lba(), command.blockCount(),
                command.bytchk() == 1 ? maxTransferBlocks : Long.MAX_VALUE)) {
            return;
        }
        if (command.protect() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 7));
            return;
        }
        if (command.blockCount() == 0) { // a length of 0 is not an error
            task.good();
            return;
        }
        MemorySegment data = task.dataOut();
        if (data.byteSize() < verifyBytes(command)) {
            task.checkCondition(Sense.invalidFieldInCdb(10, 7));
            return;
        }
        Buffers.Buffer room = task.borrow(VERIFY_BYTES);
        if (room == null) {
            task.end(Status.BUSY);
            return;
        }
        new Verification(task, command, data, room).next();
    }

    /** Makes the write stable first, so that the medium rather than the cache is verified (SBC-4 section 5.44). */
    private void writeAndVerify(ScsiTask task, WriteAndVerify command) {
        if (refusedWrite(task, command.lba(), command.blockCount(), maxTransferBlocks)) {
            return;
        }
        if (command.protect() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 7));
            return;
        }
        MemorySegment data = task.dataOut();
        if (refusedPart(task, data, command.blockCount())) {
            return;
        }
        long count = data.byteSize() / device.blockSize();
        if (count == 0) {
            task.good();
            return;
        }
        var verify = new VerifyBlocks(CdbForm.CDB16, command.lba(), count, 0, command.dpo(),
                command.bytchk(), 0);
        task.request().asWrite(command.lba(), count, data, device.supports(Capability.FUA));
        task.submit(device, (_, failure) -> {
            if (failure != null) {
                StorageSense.end(task, failure);
            } else if (device.supports(Capability.FUA)) {
                verify(task, verify);
            } else {
                verifyFlushed(task, verify);
            }
        });
    }

    private void verifyFlushed(ScsiTask task, VerifyBlocks verify) {
        task.request().asFlush();
        task.submit(device, (_, failure) -> {
            if (failure != null) {
                StorageSense.end(task, failure);
            } else {
                verify(task, verify);
            }
        });
    }

    /** Returns the length of data-out that BYTCHK requires: none, every block, or one block to compare with each. */
    private long verifyBytes(VerifyBlocks command) {
        return switch (command.bytchk()) {
            case 0 -> 0;
            case 1 -> command.blockCount() * device.blockSize();
            default -> command.blockCount() == 0 ? 0 : device.blockSize();
        };
    }

    /** A running VERIFY: reads and compares piece by piece. */
    private final class Verification {
        private final ScsiTask task;
        private final VerifyBlocks command;
        private final MemorySegment data;
        private final Buffers.Buffer room;
        private long done;

        Verification(ScsiTask task, VerifyBlocks command, MemorySegment data, Buffers.Buffer room) {
            this.task = task;
            this.command = command;
            this.data = data;
            this.room = room;
        }

        void next() {
            long count = Math.min(command.blockCount() - done, VERIFY_BYTES / device.blockSize());
            if (count == 0 || task.aborted()) {
                task.giveBack(room);
                task.good();
                return;
            }
            task.request().asRead(command.lba() + done, count,
                    room.memory().asSlice(0, count * device.blockSize()));
            task.submitPiece(device, (_, failure) -> read(failure));
        }

        private void read(@Nullable StorageException failure) {
            if (failure != null) {
                task.giveBack(room);
                StorageSense.end(task, failure);
                return;
            }
            OptionalLong differs = compare(task.request().buffer());
            if (differs.isPresent()) {
                task.giveBack(room);
                task.checkCondition(Sense
                        .of(SenseKey.MISCOMPARE, AdditionalSense.MISCOMPARE_DURING_VERIFY)
                        .withInformation(differs.getAsLong()));
                return;
            }
            done += task.request().blockCount();
            verifies.processed(task.request().blockCount());
            next();
        }

        /** Returns the offset in the command's data of the first differing byte. */
        private OptionalLong compare(MemorySegment read) {
            int block = device.blockSize();
            if (command.bytchk() == 0) {
                return OptionalLong.empty();
            }
            if (command.bytchk() == 1) {
                long at = read.mismatch(data.asSlice(done * block, read.byteSize()));
                return at < 0 ? OptionalLong.empty() : OptionalLong.of(done * block + at);
            }
            for (long from = 0; from < read.byteSize(); from += block) { // one block against each
                long at = read.asSlice(from, block).mismatch(data.asSlice(0, block));
                if (at >= 0) {
                    return OptionalLong.of(at);
                }
            }
            return OptionalLong.empty();
        }
    }

    /** Ends a task that may not write, exceeds the device's capacity or is too long. */
    boolean refusedWrite(ScsiTask task, long lba, long blockCount, long maxBlocks) {
        if (refused(task, lba, blockCount, maxBlocks)) {
            return true;
        }
        if (disk.writeProtected()) {
            task.checkCondition(Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.WRITE_PROTECTED));
            return true;
        }
        return false;
    }

    private boolean refused(ScsiTask task, long lba, long blockCount, long maxBlocks) {
        return refused(task, device, lba, blockCount, maxBlocks);
    }

    /** Ends a task that exceeds the device's capacity or is longer than the Block Limits page allows. */
    static boolean refused(ScsiTask task, BlockDevice device, long lba, long blockCount,
            long maxBlocks) {
        long blocks = device.blockCount();
        if (lba < 0 || lba > blocks || blockCount > blocks - lba) {
            task.checkCondition(
                    Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.LBA_OUT_OF_RANGE));
            return true;
        }
        if (blockCount > maxBlocks) {
            task.checkCondition(Sense.invalidFieldInCdb(lengthField(task.cdb()), 7));
            return true;
        }
        return false;
    }

    /** Returns the offset of the number of blocks in a CDB. */
    private static int lengthField(Cdb cdb) {
        return switch (cdb) {
            case CompareAndWrite _ -> 13;
            case WriteAtomic _ -> 12;
            case StandardCdb fixed -> switch (fixed.form()) {
                case CDB6 -> 4;
                case CDB10 -> 7;
                case CDB12 -> 6;
                case CDB16 -> 10;
            };
            default -> throw new IllegalStateException(cdb.toString());
        };
    }
}
