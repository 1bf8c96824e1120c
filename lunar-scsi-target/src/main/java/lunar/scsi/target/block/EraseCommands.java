package lunar.scsi.target.block;

import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.scsi.AdditionalSense;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.block.FormatHeader;
import lunar.scsi.block.FormatUnit;
import lunar.scsi.block.Sanitize;
import lunar.scsi.block.SanitizeOverwrite;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandHandler;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.ReaderRule;
import lunar.scsi.target.ScsiTask;

/** Validates SANITIZE and FORMAT UNIT (SBC-4 sections 4.11, 5.30 and 5.5) and starts them in {@link Erasures}. */
final class EraseCommands {
    private static final int RESERVED_FAST_FORMAT = 3;

    private final DiskUnit disk;
    private final BlockDevice device;
    private final Erasures erasures;

    EraseCommands(DiskUnit disk) {
        this.disk = disk;
        device = disk.device();
        erasures = disk.erasures();
    }

    void register(CommandSet commands) {
        commands.add(CommandHandler.of(Sanitize.class, Access.CONTROL, this::sanitize)
                .withDataOut(Sanitize::parameterListLength).forReaders(ReaderRule.PROTECTED))
                .add(CommandHandler.of(FormatUnit.class, Access.CONTROL, this::format)
                        .withDataOut(FormatUnit::parameterListLength)
                        .forReaders(ReaderRule.PROTECTED).takingLong());
    }

    /** Whether a service action of SANITIZE is supported: a cryptographic erase needs an encrypted store. */
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
                erasures.exitFailure(task);
            } else {
                erasures.start(task, erasure(task, command), command.immediate());
            }
        } catch (IllegalRequestException e) {
            task.checkCondition(e.sense());
        }
    }

    private Erasure erasure(ScsiTask task, Sanitize command) throws IllegalRequestException {
        if (command.zoneNoReset()) { // there are no zones
            throw InvalidCdbException.field(1, 6);
        }
        if (command.unrestrictedExit()
                && erasures.failed().filter(Erasure::isRestricted).isPresent()) {
            throw InvalidCdbException.field(1, 5); // a retry must not permit EXIT FAILURE MODE
        }
        if (command.serviceAction() == Sanitize.OVERWRITE) {
            if (task.dataOut().byteSize() < command.parameterListLength()) {
                throw InvalidParameterListException.length();
            }
            return Erasure.overwrite(SanitizeOverwrite.decode(task.dataOut(), device.blockSize()),
                    command.unrestrictedExit());
        }
        if (command.parameterListLength() != 0) {
            throw InvalidCdbException.field(7);
        }
        return Erasure.of(command.serviceAction() == Sanitize.BLOCK_ERASE
                ? Erasure.Kind.BLOCK_ERASE
                : Erasure.Kind.CRYPTOGRAPHIC_ERASE, command.unrestrictedExit());
    }

    private void format(ScsiTask task, FormatUnit command) {
        if (refused(task)) {
            return;
        }
        Optional<Erasure> failed = erasures.failed();
        if (failed.isPresent() && !failed.get().isFormat()) { // a format would leave the failed state
            task.checkCondition(failed.get().failure());
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
            erasures.start(task, Erasure.of(Erasure.Kind.FORMAT, false), immediate);
        } catch (IllegalRequestException e) {
            task.checkCondition(e.sense());
        }
    }

    /** Requires a format without protection information, pattern and defect list. */
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

    /** Ends the task if the unit cannot be erased now; stops a background self-test (SPC-5 section 5.15). */
    private boolean refused(ScsiTask task) {
        var running = disk.medium().running();
        if (running.isPresent()) {
            task.checkCondition(running.get().sense());
            return true;
        }
        if (disk.medium().isEjected()) {
            task.checkCondition(disk.medium().obstacle().orElse(Sense.NONE));
            return true;
        }
        if (disk.writeProtected()) {
            task.checkCondition(Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.WRITE_PROTECTED));
            return true;
        }
        disk.selfTest().stopBackground();
        return false;
    }
}
