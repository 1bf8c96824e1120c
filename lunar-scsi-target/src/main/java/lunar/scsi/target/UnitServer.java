package lunar.scsi.target;

import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.command.CommandDescriptor;
import lunar.scsi.command.CommandTable;
import lunar.scsi.command.ReportSupportedOperationCodes;
import lunar.scsi.command.ReportSupportedTaskManagementFunctions;
import lunar.scsi.command.TaskManagementSupport;
import lunar.scsi.primary.ReportLuns;
import lunar.scsi.primary.RequestSense;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.target.reservation.ReservationCommands;
import lunar.scsi.vpd.Inquiry;
import org.jspecify.annotations.Nullable;

/**
 * The device server of a logical unit of any device type (SAM-5 section 4.6): decides whether a command is executed, in
 * the order of unit attentions, port states, reservations and the state of the device (SAM-5 section 5.3), and calls
 * its handler.
 */
final class UnitServer implements DeviceServer {
    private static final int ACTION_BITS = 5;
    private static final int ACTION_MASK = 0x1f;

    /** All functions except CLEAR ACA and WAKEUP. */
    private static final Set<TaskManagementSupport.Function> FUNCTIONS = EnumSet.complementOf(
            EnumSet.of(TaskManagementSupport.Function.CLEAR_ACA,
                    TaskManagementSupport.Function.WAKEUP));

    private final LogicalUnit unit;
    private final PeripheralDevice device;
    private final CommandSet commands;
    private final CommandTable table;

    /** Operation code and service action of every command in the table, for the lookup at every command. */
    private final BitSet known = new BitSet();

    /** @param commands the commands of the device type */
    UnitServer(LogicalUnit unit, PeripheralDevice device, CommandSet commands) {
        this.unit = unit;
        this.device = device;
        this.commands = commands;
        registerOwn();
        new InquiryCommands(device).register(commands);
        new ReservationCommands(unit).register(commands);
        new PortGroupCommands(unit).register(commands);
        table = commands.table();
        for (CommandDescriptor command : table.commands()) {
            for (int action = 0; action <= ACTION_MASK; action++) {
                if (command.serviceAction().isEmpty()
                        || command.serviceAction().getAsInt() == action) {
                    known.set(command.opcode() << ACTION_BITS | action);
                }
            }
        }
    }

    private void registerOwn() {
        commands.add(CommandHandler.of(RequestSense.class, Access.FREE, this::requestSense)
                .passing((_, _) -> true))
                .add(CommandHandler.of(ReportLuns.class, Access.FREE,
                        AbsentDeviceServer::reportLuns).passing((_, _) -> true))
                .on(TestUnitReady.class, Access.READY, (task, _) -> task.good())
                .on(ReportSupportedOperationCodes.class, Access.INFORM, this::supportedCommands)
                .on(ReportSupportedTaskManagementFunctions.class, Access.INFORM,
                        (task, report) -> task.good(
                                new TaskManagementSupport(FUNCTIONS, report.repd()).bytes(),
                                report.allocationLength()));
    }

    @Override
    public void prepare(ScsiTask task) {
        if (device.acceptPlain(task)) {
            return;
        }
        Cdb cdb;
        try {
            cdb = commands.decode(task.cdbBytes());
        } catch (InvalidCdbException e) {
            task.refuse(e.sense());
            return;
        }
        CommandHandler<?> handler = commands.handler(cdb);
        if (handler == null) {
            task.refuse(InvalidCdbException.operationCode().sense());
            return;
        }
        int action = task.cdbBytes().get(ValueLayout.JAVA_BYTE, 1) & ACTION_MASK;
        if (!commands.hasDecoder(cdb.opcode())
                && !known.get(cdb.opcode() << ACTION_BITS | action)) { // only the service action is unsupported
            task.refuse(Sense.invalidFieldInCdb(1, 4));
            return;
        }
        long needed = handler.dataOutOf(cdb);
        long dataOut = needed == CommandHandler.ANY_LENGTH ? task.expectedOutBytes() : needed;
        task.accept(cdb, dataOut);
        if (dataOut > task.expectedOutBytes() && !handler.takesLess()) {
            task.refuse(ScsiTask.DATA_OUT_TOO_SHORT); // a truncated parameter list might be valid with another meaning
        }
    }

    @Override
    public void execute(ScsiTask task) {
        CommandHandler<?> handler = task.isPlain() ? null : handler(task.cdb());
        Access access = handler == null ? device.plainAccess(task) : handler.accessOf(task.cdb());
        device.begin(access);
        if (reportsAttention(task)) {
            return;
        }
        State state = unit.access().inactive(task.nexus().port());
        if (state != null && (handler == null || !handler.passes(task.cdb(), state))) {
            task.checkCondition(AsymmetricAccess.sense(state));
            return;
        }
        Status conflict = unit.reservations().conflict(task.nexus(), task.nexus().registrant(),
                access);
        if (conflict != null) {
            task.end(conflict);
            return;
        }
        Optional<Sense> refusal = refusal(task, handler, access);
        if (refusal.isPresent()) {
            task.checkCondition(refusal.get());
        } else if (handler == null) {
            device.executePlain(task);
        } else {
            handler.execute(task);
        }
    }

    private Optional<Sense> refusal(ScsiTask task, @Nullable CommandHandler<?> handler,
            Access access) {
        Optional<Sense> obstacle = device.obstacle(access);
        if (obstacle.isPresent()) {
            return obstacle;
        }
        if (task.nexus().luns().isReadOnly(task.lun())) {
            ReaderRule rule = handler == null
                    ? ReaderRule.of(access)
                    : handler.readerRuleOf(task.cdb());
            if (rule != ReaderRule.ALLOWED) {
                return rule.refusal();
            }
        }
        return device.executing(task);
    }

    private CommandHandler<?> handler(Cdb cdb) {
        return Objects.requireNonNull(commands.handler(cdb));
    }

    @Override
    public long dataInBytes(ScsiTask task) { return device.dataInBytes(task); }

    @Override
    public void ended(ScsiTask task) {
        device.end(task.isPlain()
                ? device.plainAccess(task)
                : handler(task.cdb()).accessOf(task.cdb()));
    }

    @Override
    public boolean descriptorSense() { return device.descriptorSense(); }

    @Override
    public void failed(ScsiTask task) { device.failed(task); }

    @Override
    public void lostWrites(ScsiTask task) { device.lostWrites(task); }

    private void requestSense(ScsiTask task, RequestSense command) {
        task.good(device.pollable().orElse(Sense.NONE).encode(command.descriptorFormat()),
                command.allocationLength());
    }

    /**
     * Ends the command with a pending unit attention (SAM-5 section 5.14), except for INQUIRY and REPORT LUNS, which
     * leave it pending, and REQUEST SENSE, which returns it as data.
     */
    private boolean reportsAttention(ScsiTask task) {
        if (!task.isPlain()
                && (task.cdb() instanceof Inquiry || task.cdb() instanceof ReportLuns)) {
            return false;
        }
        AdditionalSense attention = task.nexus().takeAttention(unit);
        if (attention == null) {
            return false;
        }
        Sense sense = Sense.of(SenseKey.UNIT_ATTENTION, attention);
        if (task.cdb() instanceof RequestSense request) {
            task.good(sense.encode(request.descriptorFormat()), request.allocationLength());
        } else {
            task.checkCondition(sense);
        }
        return true;
    }

    private void supportedCommands(ScsiTask task, ReportSupportedOperationCodes command) {
        try {
            task.good(table.answer(command).bytes(), command.allocationLength());
        } catch (InvalidCdbException e) {
            task.checkCondition(e.sense());
        }
    }
}
