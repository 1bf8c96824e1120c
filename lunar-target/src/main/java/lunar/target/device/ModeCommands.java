package lunar.target.device;

import lunar.block.BlockDevice;
import lunar.scsi.AdditionalSense;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.InformationalExceptionsModePage;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ModeParameters;
import lunar.scsi.ModeSelect;
import lunar.scsi.ModeSense;

/**
 * MODE SENSE and MODE SELECT (SPC-5 sections 6.11 to 6.14). The pages are shared by all sessions; a change is told
 * to the others by a unit attention.
 */
final class ModeCommands {
    private final ScsiTarget target;
    private final LogicalUnit unit;
    private final UnitModes modes;
    private final BlockDevice device;

    ModeCommands(ScsiTarget target, LogicalUnit unit) {
        this.target = target;
        this.unit = unit;
        modes = unit.modes();
        device = unit.device();
    }

    void register(CommandSet commands) {
        commands.on(ModeSense.class, Access.INFORM, this::sense)
                .on(ModeSelect.class, Access.CONTROL, ModeSelect::parameterListLength,
                        this::select);
    }

    boolean descriptorSense() { return modes.descriptorSense(); }

    /** Whether writes are refused: by the device, or by SWP of the Control page. */
    boolean writeProtected() {
        return unit.writeProtected();
    }

    private ModeParameters.Blocks blocks() {
        return new ModeParameters.Blocks(device.blockCount(), device.blockSize());
    }

    private void sense(ScsiTask task, ModeSense command) {
        try {
            int deviceSpecific = ModeParameters.DPO_FUA
                    | (writeProtected() || task.nexus().luns().isReadOnly(task.lun())
                            ? ModeParameters.WRITE_PROTECTED
                            : 0);
            task.good(modes.pages().answer(command, deviceSpecific, blocks()).bytes(),
                    command.allocationLength());
        } catch (InvalidCdbException e) {
            task.checkCondition(e.sense());
        }
    }

    private void select(ScsiTask task, ModeSelect command) {
        if (task.dataOut().byteSize() < command.parameterListLength()) { // a part may make sense alone
            task.checkCondition(InvalidParameterListException.length().sense());
            return;
        }
        if (command.savePages()) {
            task.work(() -> {
                boolean changed = modes.changeAndSave(command, task.dataOut(), blocks());
                return then -> selected(then, changed);
            });
            return;
        }
        try {
            selected(task, modes.change(command, task.dataOut(), blocks()));
        } catch (IllegalRequestException e) {
            task.checkCondition(e.sense());
        }
    }

    private void selected(ScsiTask task, boolean changed) {
        if (changed) {
            target.establishForOthers(task.nexus(), unit, AdditionalSense.MODE_PARAMETERS_CHANGED);
            if (modes.simulatedException() == InformationalExceptionsModePage.UNIT_ATTENTION) {
                unit.nexuses().forEach(nexus -> nexus.establish(unit,
                        AdditionalSense.FAILURE_PREDICTION_FALSE));
            }
            unit.thresholds().check();
        }
        if (modes.writeThrough()) {
            // What is in the cache must become stable too (SBC-4 section 4.15). Where it was off before, the flush of
            // another MODE SELECT may still be under way, or may have failed.
            task.request().asFlush();
            task.submit(device, BlockCommands::ended);
        } else {
            task.good();
        }
    }
}
