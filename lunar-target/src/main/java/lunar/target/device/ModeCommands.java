package lunar.target.device;

import lunar.block.BlockDevice;
import lunar.scsi.AdditionalSense;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.ModePages;
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
    private final BlockDevice device;
    private volatile ModePages pages = initial();

    ModeCommands(ScsiTarget target, LogicalUnit unit) {
        this.target = target;
        this.unit = unit;
        device = unit.device();
    }

    void register(CommandSet commands) {
        commands.on(ModeSense.class, Access.CONTROL, this::sense)
                .on(ModeSelect.class, Access.CONTROL, ModeSelect::parameterListLength,
                        this::select);
    }

    private static ModePages initial() { return ModePages.disk(true, true); }

    /** A reset brings the values back that the unit began with (SPC-5 section 6.14). */
    synchronized void reset() {
        pages = initial();
    }

    boolean descriptorSense() { return pages.descriptorSense(); }

    /** Whether writes are refused: by the device, or by SWP of the Control page. */
    boolean writeProtected() {
        return device.readOnly() || unit.spec().readOnly() || pages.softwareWriteProtect();
    }

    private void sense(ScsiTask task, ModeSense command) {
        try {
            int deviceSpecific = ModeParameters.DPO_FUA
                    | (writeProtected() ? ModeParameters.WRITE_PROTECTED : 0);
            task.good(pages.answer(command, deviceSpecific,
                    new ModeParameters.Blocks(device.blockCount(), device.blockSize())).bytes(),
                    command.allocationLength());
        } catch (InvalidCdbException e) {
            task.checkCondition(e.sense());
        }
    }

    private synchronized void select(ScsiTask task, ModeSelect command) {
        try {
            ModePages changed = pages.change(command, task.dataOut());
            pages = changed;
            for (Nexus other : target.nexuses()) {
                if (!other.equals(task.nexus())) {
                    other.establish(unit, AdditionalSense.MODE_PARAMETERS_CHANGED);
                }
            }
            task.good();
        } catch (IllegalRequestException e) {
            task.checkCondition(e.sense());
        }
    }
}
