package lunar.scsi.target.block;

import java.util.Optional;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.block.PreventAllowMediumRemoval;
import lunar.scsi.block.ReadDefectData;
import lunar.scsi.block.StartStopUnit;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandHandler;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.ReaderRule;
import lunar.scsi.target.ScsiTask;

/** Executes commands that start, stop, load and eject the medium, and that query its state (SBC-4 chapter 5). */
final class MediumCommands {
    private static final Sense PREVENTED = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.MEDIUM_REMOVAL_PREVENTED);

    private final DiskUnit disk;
    private final BlockCommands blocks;

    MediumCommands(DiskUnit disk, BlockCommands blocks) {
        this.disk = disk;
        this.blocks = blocks;
    }

    void register(CommandSet commands) {
        commands.add(CommandHandler
                .of(StartStopUnit.class, MediumCommands::access, this::startStop)
                .forReaders(ReaderRule.DENIED))
                .add(CommandHandler.of(PreventAllowMediumRemoval.class,
                        command -> command.prevent() == 0 ? Access.FREE : Access.CONTROL,
                        this::prevent))
                .on(ReadDefectData.class, Access.READ, MediumCommands::defects);
    }

    /** Returns the access of the command: other nexuses may only start a reserved unit (SBC-4 section 4.17). */
    private static Access access(StartStopUnit command) {
        return command.start() && command.powerCondition() == 0 ? Access.FREE : Access.CONTROL;
    }

    /** Whether the command flushes the cache before it ends: a stop or an eject. */
    static boolean flushes(StartStopUnit command) {
        return command.powerCondition() == 0 && !command.start()
                && (command.loadEject() || !command.noFlush());
    }

    /**
     * Starts or stops the unit. There is no motor, and other hosts may be using the unit: a stop flushes the cache, as
     * a host that powers down expects, and has no other effect.
     */
    private void startStop(ScsiTask task, StartStopUnit command) {
        Optional<LongOperation> running = disk.medium().running();
        if (running.isPresent()) {
            task.checkCondition(running.get().sense());
            return;
        }
        disk.selfTest().stopBackground();
        if (command.powerCondition() != 0) {
            task.good(); // START and LOEJ are ignored (SBC-4 section 5.28)
        } else if (command.loadEject()) {
            loadOrEject(task, command.start());
        } else if (command.start() && disk.medium().isEjected()) {
            task.checkCondition(disk.medium().obstacle().orElse(Sense.NONE));
        } else if (command.start()) {
            disk.counters().starts.increment();
            task.good();
        } else if (command.noFlush()) {
            task.good();
        } else {
            blocks.flush(task);
        }
    }

    private void loadOrEject(ScsiTask task, boolean load) {
        Medium medium = disk.medium();
        if (!disk.profile().removable()) {
            task.checkCondition(Sense.invalidFieldInCdb(4, 1));
        } else if (medium.isRemovalPrevented()) { // neither loading nor ejecting
            task.checkCondition(PREVENTED);
        } else if (!load) {
            medium.eject(true);
            blocks.flush(task);
        } else {
            disk.counters().starts.increment();
            if (medium.eject(false)) {
                disk.unit().establishForOthers(task.nexus(),
                        AdditionalSense.MEDIUM_MAY_HAVE_CHANGED);
            }
            task.good();
        }
    }

    private void prevent(ScsiTask task, PreventAllowMediumRemoval command) {
        disk.medium().prevent(task.nexus(), (command.prevent() & 1) != 0);
        task.good();
    }

    /** Returns an empty defect list: the store does not report defects. */
    private static void defects(ScsiTask task, ReadDefectData command) {
        task.good(command.noDefects(), command.allocationLength());
    }
}
