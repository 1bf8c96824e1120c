package lunar.target.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.FormatHeader;
import lunar.scsi.FormatUnit;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Sanitize;
import lunar.scsi.SanitizeOverwrite;
import org.jspecify.annotations.Nullable;

/**
 * SANITIZE and FORMAT UNIT (SBC-4 sections 4.11, 5.30 and 5.5). Both go on by themselves once begun: neither an abort
 * nor a reset nor the end of the session stops them; commands that need the medium are told how far they are.
 */
final class EraseCommands {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final int RESERVED_FAST_FORMAT = 3;
    private static final int PIECE_BYTES = 1 << 20;

    /** What an operation does to the device; blocks until done. */
    @FunctionalInterface
    private interface Eraser {
        void erase(LongOperation operation) throws StorageException;
    }

    private final LogicalUnit unit;
    private final BlockDevice device;
    private final ModeCommands mode;

    EraseCommands(LogicalUnit unit, ModeCommands mode) {
        this.unit = unit;
        device = unit.device();
        this.mode = mode;
    }

    void register(CommandSet commands) {
        commands.on(Sanitize.class, Access.CONTROL, Sanitize::parameterListLength, this::sanitize)
                .on(FormatUnit.class, Access.CONTROL, FormatUnit::parameterListLength,
                        this::format);
    }

    /** Whether a service action of SANITIZE can be kept: a cryptographic erase needs an encrypted store. */
    static boolean supports(BlockDevice device, int serviceAction) {
        return serviceAction != Sanitize.CRYPTOGRAPHIC_ERASE
                || device.supports(Capability.KEY_ERASURE);
    }

    private void sanitize(ScsiTask task, Sanitize command) {
        if (refused(task)) {
            return;
        }
        try {
            if (command.serviceAction() == Sanitize.EXIT_FAILURE_MODE) {
                if (!unit.medium().exitFailure()) {
                    throw InvalidCdbException.field(1, 4);
                }
                task.good();
                return;
            }
            Eraser eraser = eraser(task, command);
            start(task, AdditionalSense.SANITIZE_IN_PROGRESS,
                    AdditionalSense.SANITIZE_COMMAND_FAILED, eraser, command.immediate(),
                    command.unrestrictedExit());
        } catch (IllegalRequestException e) {
            task.checkCondition(e.sense());
        }
    }

    private Eraser eraser(ScsiTask task, Sanitize command) throws IllegalRequestException {
        if (command.zoneNoReset()) { // there are no zones
            throw InvalidCdbException.field(1, 6);
        }
        if (command.serviceAction() == Sanitize.OVERWRITE) {
            if (task.dataOut().byteSize() < command.parameterListLength()) {
                throw InvalidParameterListException.length();
            }
            var list = SanitizeOverwrite.decode(task.dataOut(), device.blockSize());
            return operation -> overwrite(operation, list);
        }
        if (command.parameterListLength() != 0) {
            throw InvalidCdbException.field(7);
        }
        return command.serviceAction() == Sanitize.BLOCK_ERASE ? this::zero : operation -> {
            device.eraseKey();
            zero(operation);
        };
    }

    private void format(ScsiTask task, FormatUnit command) {
        if (refused(task)) {
            return;
        }
        try {
            if (command.protectionInformation() != 0) {
                throw InvalidCdbException.field(1, 7);
            }
            if (command.fastFormat() == RESERVED_FAST_FORMAT) {
                throw InvalidCdbException.field(4, 1);
            }
            boolean immediate = false;
            if (command.parameterList()) {
                if (task.dataOut().byteSize() < command.parameterListLength()) {
                    throw InvalidParameterListException.length();
                }
                var header = FormatHeader.decode(task.dataOut());
                requirePlain(header);
                immediate = header.immediate();
            }
            start(task, AdditionalSense.FORMAT_IN_PROGRESS, AdditionalSense.FORMAT_COMMAND_FAILED,
                    this::zero, immediate, true);
        } catch (IllegalRequestException e) {
            task.checkCondition(e.sense());
        }
    }

    /** No protection information, no pattern, no defects. */
    private static void requirePlain(FormatHeader header) throws InvalidParameterListException {
        if (header.protectionFields() != 0) {
            throw InvalidParameterListException.field(0, 2);
        }
        if (header.initializationPattern()) {
            throw InvalidParameterListException.field(1, 3);
        }
        if (header.protectionInterval() != 0) {
            throw InvalidParameterListException.field(3);
        }
        if (header.defectListBytes() != 0) {
            throw InvalidParameterListException.field(2);
        }
    }

    private boolean refused(ScsiTask task) {
        var running = unit.medium().running();
        if (running.isPresent()) {
            task.checkCondition(running.get().sense());
            return true;
        }
        if (unit.medium().isEjected()) {
            task.checkCondition(unit.medium().obstacle().orElse(Sense.NONE));
            return true;
        }
        if (mode.writeProtected()) {
            task.checkCondition(Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.WRITE_PROTECTED));
            return true;
        }
        return false;
    }

    private void start(ScsiTask task, AdditionalSense inProgress, AdditionalSense failed,
            Eraser eraser, boolean immediate, boolean mayExit) {
        var operation = new LongOperation(inProgress);
        if (!unit.medium().begin(operation)) {
            task.checkCondition(Sense.of(SenseKey.NOT_READY, inProgress));
            return;
        }
        Sense failure = Sense.of(SenseKey.MEDIUM_ERROR, failed);
        var outcome = new CompletableFuture<Consumer<ScsiTask>>();
        Thread.ofPlatform().daemon().name("lunar-erase").start(() -> {
            unit.medium().awaitUnused();
            Sense ended = run(eraser, operation, failure);
            unit.medium().end(ended, mayExit);
            outcome.complete(ended == null ? ScsiTask::good : last -> last.checkCondition(ended));
        });
        if (immediate) {
            task.good();
        } else {
            task.whenAborted(() -> outcome.complete(ScsiTask::good)); // it goes on without its task
            task.work(outcome::join);
        }
    }

    private @Nullable Sense run(Eraser eraser, LongOperation operation, Sense failure) {
        try {
            eraser.erase(operation);
            device.flush();
            return null;
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.ERROR, "{0}: an erasure failed: {1}", device,
                    e.getMessage());
        } catch (RuntimeException | OutOfMemoryError e) {
            LOG.log(System.Logger.Level.ERROR, "erasing " + device, e);
        }
        return failure;
    }

    private void zero(LongOperation operation) throws StorageException {
        boolean unmaps = device.supports(Capability.UNMAP);
        if (!unmaps && !device.supports(Capability.WRITE_ZEROES)) {
            write(operation, MemorySegment.ofArray(new byte[device.blockSize()]), 0, 1);
            return;
        }
        long most = unmaps
                ? device.limits().maxUnmapBlocks()
                : device.limits().maxWriteZeroesBlocks();
        long piece = Math.clamp((1L << 30) / device.blockSize(), 1, most);
        long blocks = device.blockCount();
        for (long lba = 0; lba < blocks; lba += piece) {
            long count = Math.min(piece, blocks - lba);
            if (unmaps) {
                device.unmap(lba, count);
            } else {
                device.writeZeroes(lba, count);
            }
            operation.progress(lba + count, blocks);
        }
    }

    private void overwrite(LongOperation operation, SanitizeOverwrite list)
            throws StorageException {
        byte[] block = new byte[device.blockSize()];
        Bytes pattern = list.pattern();
        for (int i = 0; i < block.length; i++) {
            block[i] = (byte) pattern.at(i % pattern.length());
        }
        for (int pass = 0; pass < list.count(); pass++) {
            write(operation, MemorySegment.ofArray(block), pass, list.count());
            device.flush();
            if (list.invert()) {
                for (int i = 0; i < block.length; i++) {
                    block[i] = (byte) ~block[i];
                }
            }
        }
    }

    /** Writes one block all over the device, as a pass out of several. */
    private void write(LongOperation operation, MemorySegment block, int pass, int passes)
            throws StorageException {
        long blocks = device.blockCount();
        int piece = Math.min(PIECE_BYTES / device.blockSize(),
                device.limits().maxTransferBlocks());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate((long) piece * device.blockSize(), 4096);
            for (int i = 0; i < piece; i++) {
                MemorySegment.copy(block, ValueLayout.JAVA_BYTE, 0, buffer, ValueLayout.JAVA_BYTE,
                        (long) i * device.blockSize(), device.blockSize());
            }
            for (long lba = 0; lba < blocks; lba += piece) {
                long count = Math.min(piece, blocks - lba);
                device.write(lba, buffer.asSlice(0, count * device.blockSize()));
                operation.progress(pass * blocks + lba + count, passes * blocks);
            }
        } catch (IllegalStateException e) {
            throw new DeviceGoneException("memory for erasing", e);
        }
    }
}
