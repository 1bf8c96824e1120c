package lunar.scsi.target;

import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.mode.ModeSelect;
import lunar.scsi.mode.ModeSense;
import lunar.scsi.primary.TargetPortGroups.State;

/**
 * Executes MODE SENSE and MODE SELECT (SPC-5 sections 6.11 to 6.14), for device types that have mode pages. The pages
 * are shared by all sessions, of all servers that share the unit; a change establishes a unit attention for the other
 * sessions.
 */
public final class ModeCommands {
    /** Mode pages and header parameters of a device type. */
    public interface Source {
        /** Returns the mode pages. */
        UnitModes<?> modes();

        /** Returns the DEVICE-SPECIFIC PARAMETER of the header for this command. */
        int deviceSpecific(ScsiTask task);

        /** Returns the block descriptor. */
        ModeParameters.Blocks blocks();

        /**
         * Ends a MODE SELECT that has succeeded.
         *
         * @param changed whether any value has changed
         */
        default void selected(ScsiTask task, boolean changed) { task.good(); }
    }

    private final LogicalUnit unit;
    private final Source source;

    public ModeCommands(LogicalUnit unit, Source source) {
        this.unit = unit;
        this.source = source;
    }

    /** Adds the commands. */
    public void register(CommandSet commands) {
        commands.add(CommandHandler.of(ModeSense.class, Access.INFORM, this::sense)
                .passing((_, state) -> state == State.STANDBY))
                .add(CommandHandler.of(ModeSelect.class, Access.CONTROL, this::select)
                        .withDataOut(ModeSelect::parameterListLength)
                        .passing((_, state) -> state == State.STANDBY));
    }

    private void sense(ScsiTask task, ModeSense command) {
        try {
            task.good(source.modes().pages()
                    .answer(command, source.deviceSpecific(task), source.blocks()).bytes(),
                    command.allocationLength());
        } catch (InvalidCdbException e) {
            task.checkCondition(e.sense());
        }
    }

    private void select(ScsiTask task, ModeSelect command) {
        if (task.dataOut().byteSize() < command.parameterListLength()) { // a truncated list might be valid by itself
            task.checkCondition(InvalidParameterListException.length().sense());
            return;
        }
        if (command.savePages() || source.modes().isShared()) {
            task.work(() -> {
                UnitModes.Outcome outcome = source.modes().change(command, task.dataOut(),
                        source.blocks());
                return then -> selected(then, outcome);
            });
            return;
        }
        try {
            selected(task, source.modes().change(command, task.dataOut(), source.blocks()));
        } catch (IllegalRequestException e) {
            task.checkCondition(e.sense());
        } catch (StorageException e) {
            StorageSense.end(task, e);
        }
    }

    private void selected(ScsiTask task, UnitModes.Outcome outcome) {
        if (outcome.overtaken()) {
            unit.establish(AdditionalSense.MODE_PARAMETERS_CHANGED);
        } else if (outcome.changed()) {
            unit.establishForOthers(task.nexus(), AdditionalSense.MODE_PARAMETERS_CHANGED);
        }
        source.selected(task, outcome.changed());
    }
}
