package lunar.target.device;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.scsi.AdditionalSense;
import lunar.scsi.CapacityData10;
import lunar.scsi.CapacityData16;
import lunar.scsi.Cdb;
import lunar.scsi.CommandDescriptor;
import lunar.scsi.CommandTable;
import lunar.scsi.CompareAndWrite;
import lunar.scsi.InformationalExceptionsModePage;
import lunar.scsi.Inquiry;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.OrWrite;
import lunar.scsi.ReadCapacity10;
import lunar.scsi.ReadCapacity16;
import lunar.scsi.ReportLuns;
import lunar.scsi.ReportSupportedOperationCodes;
import lunar.scsi.ReportSupportedTaskManagementFunctions;
import lunar.scsi.RequestSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.StartStopUnit;
import lunar.scsi.Status;
import lunar.scsi.SynchronizeCache;
import lunar.scsi.TaskManagementSupport;
import lunar.scsi.VerifyBlocks;
import lunar.scsi.WriteAndVerify;
import lunar.scsi.WriteAtomic;
import lunar.scsi.WriteBlocks;

/**
 * A direct-access block device (SPC-5, SBC-4) over a {@link BlockDevice}. Says which command needs which data, and
 * which class executes it; the commands themselves stand in the classes beside it, by family.
 */
final class BlockDeviceServer implements DeviceServer {
    private static final int ACTION_BITS = 5;
    private static final int ACTION_MASK = 0x1f;
    private static final int SANITIZE = 0x48;

    /** All but CLEAR ACA and WAKEUP. */
    private static final Set<TaskManagementSupport.Function> FUNCTIONS = EnumSet.complementOf(
            EnumSet.of(TaskManagementSupport.Function.CLEAR_ACA,
                    TaskManagementSupport.Function.WAKEUP));

    private final ScsiTarget target;
    private final LogicalUnit unit;
    private final BlockDevice device;
    private final ModeCommands mode;
    private final CommandSet commands = new CommandSet();
    private final BlockCommands blocks;
    private final CommandTable table;

    /** Operation code and service action of every command in the table, for a look-up at every command. */
    private final BitSet known = new BitSet();

    BlockDeviceServer(ScsiTarget target, LogicalUnit unit, int maxTransferBytes)
            throws IOException {
        this.target = target;
        this.unit = unit;
        device = unit.device();
        int maxTransferBlocks = Math.min(device.limits().maxTransferBlocks(),
                maxTransferBytes / device.blockSize());
        mode = new ModeCommands(target, unit);
        blocks = new BlockCommands(unit, mode, maxTransferBlocks);
        registerOwn();
        blocks.register(commands);
        mode.register(commands);
        new InquiryCommands(unit, maxTransferBlocks).register(commands);
        new ProvisioningCommands(device, mode, blocks).register(commands);
        new LbaStatusCommands(device).register(commands);
        new MediumCommands(unit, blocks).register(commands);
        new EraseCommands(unit, mode).register(commands);
        new ReservationCommands(unit).register(commands);
        new AtomicCommands(device, blocks, maxTransferBlocks).register(commands);
        new PortGroupCommands(unit).register(commands);
        new DiagnosticCommands(unit).register(commands);
        new LogCommands(target, unit).register(commands);
        new BufferCommands().register(commands);
        new IdentityCommands(target, unit, System::currentTimeMillis).register(commands);
        new ExtendedCopyCommands(target, unit).register(commands);
        new RodTokenCommands(target, unit).register(commands);
        new CopyResultCommands(unit).register(commands);
        table = commands.table(command -> command.opcode() != SANITIZE
                || EraseCommands.supports(device, command.serviceAction().orElse(0)))
                .withTimeouts(CommandTimeouts::of);
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
        commands.on(RequestSense.class, Access.FREE, this::requestSense)
                .on(ReadCapacity10.class, Access.READY, (task, _) -> task.good(
                        CapacityData10.of(device.blockCount(), device.blockSize()).bytes(), 8))
                .on(ReadCapacity16.class, Access.READY, (task, capacity) -> task
                        .good(capacity16().bytes(), cut(capacity.allocationLength())))
                .on(ReportLuns.class, Access.FREE,
                        AbsentDeviceServer::reportLuns)
                .on(ReportSupportedOperationCodes.class, Access.INFORM, this::supportedCommands)
                .on(ReportSupportedTaskManagementFunctions.class, Access.INFORM,
                        (task, report) -> task.good(
                                new TaskManagementSupport(FUNCTIONS, report.repd()).bytes(),
                                cut(report.allocationLength())));
    }

    @Override
    public void prepare(ScsiTask task) {
        if (blocks.acceptPlain(task)) {
            return;
        }
        Cdb cdb;
        try {
            cdb = Cdb.decode(task.cdbBytes());
        } catch (InvalidCdbException e) {
            task.refuse(e.sense());
            return;
        }
        int action = task.cdbBytes().get(ValueLayout.JAVA_BYTE, 1) & ACTION_MASK;
        CommandSet.Handler<?> handler = commands.handler(cdb);
        if (handler == null) {
            task.refuse(InvalidCdbException.operationCode().sense());
            return;
        }
        if (!known.get(cdb.opcode() << ACTION_BITS | action)) { // only this service action is not there
            task.refuse(Sense.invalidFieldInCdb(1, 4));
            return;
        }
        long dataOut = handler.dataOut(cdb);
        task.accept(cdb, dataOut);
        if (dataOut > task.expectedOutBytes() && !handler.takesLess()) {
            task.refuse(ScsiTask.DATA_OUT_TOO_SHORT); // a part of a parameter list may make sense, and another one
        }
    }

    @Override
    public void execute(ScsiTask task) {
        CommandSet.Handler<?> handler = task.isPlain() ? null : handler(task.cdb());
        Access access = handler == null
                ? BlockCommands.plainAccess(task)
                : handler.access(task.cdb());
        if (access.needsMedium()) { // before the medium is looked at: an erasure sees it or is seen
            unit.medium().enter();
        }
        if (reportsAttention(task)) {
            return;
        }
        if (unit.access().refuses(task)) {
            return;
        }
        if (unit.reservations().conflict(task.nexus(), access)) {
            task.end(Status.RESERVATION_CONFLICT);
            return;
        }
        if (access.needsMedium()) {
            Optional<Sense> obstacle = unit.medium().obstacle();
            if (obstacle.isPresent()) {
                task.checkCondition(obstacle.get());
                return;
            }
        }
        if (task.nexus().luns().isReadOnly(task.lun())) {
            Optional<Sense> refusal = handler == null
                    ? ReadOnlyRules.refusalOfPlain(access)
                    : ReadOnlyRules.refusal(task.cdb());
            if (refusal.isPresent()) {
                task.checkCondition(refusal.get());
                return;
            }
        }
        if (owesLoss(task)) { // none but after a loss
            task.checkCondition(Sense.of(SenseKey.MEDIUM_ERROR, AdditionalSense.WRITE_ERROR));
            return;
        }
        if (target.copies().tokens().any()) { // rare; most hosts never make any
            WrittenBlocks.revokeTokens(target.copies().tokens(), unit.store(), task);
        }
        if (handler == null) {
            blocks.executePlain(task);
        } else {
            handler.execute(task);
        }
    }

    private CommandSet.Handler<?> handler(Cdb cdb) {
        return Objects.requireNonNull(commands.handler(cdb));
    }

    @Override
    public void ended(ScsiTask task) {
        if (task.isPlain() || handler(task.cdb()).access(task.cdb()).needsMedium()) {
            unit.medium().leave();
        }
    }

    private void requestSense(ScsiTask task, RequestSense command) {
        Sense sense = unit.medium().running().map(LongOperation::sense)
                .or(() -> unit.erasures().failed().map(Erasure::failure))
                .or(() -> unit.selfTest().inBackground().map(LongOperation::sense))
                .orElseGet(this::pollable);
        task.good(sense.encode(command.descriptorFormat()), command.allocationLength());
    }

    /**
     * A pending unit attention ends the command instead (SAM-5 section 5.14), but for INQUIRY and REPORT LUNS, which
     * leave it, and REQUEST SENSE, which tells it as its data.
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

    @Override
    public void failed(ScsiTask task) {
        LogCounters counters = unit.counters();
        if (task.cdb() instanceof VerifyBlocks) {
            counters.verifies.failed();
        } else if (task.request().operation() == BlockRequest.Operation.READ) {
            counters.reads.failed();
        } else {
            counters.writes.failed();
        }
    }

    @Override
    public void lostWrites(ScsiTask task) {
        if (task.aborted()) { // its outcome is not reported
            unit.losses().lost(device.writeLosses(), unit.nexuses());
        } else {
            unit.losses().lost(task.nexus(), device.writeLosses(), unit.nexuses());
        }
    }

    /** Whether a command must be told that writes are lost: one that would vouch for them if it succeeded. */
    private boolean owesLoss(ScsiTask task) {
        return unit.losses().any()
                && (task.isPlain() ? blocks.vouches(task) : vouches(task.cdb()))
                && unit.losses().take(task.nexus());
    }

    private boolean vouches(Cdb cdb) {
        return switch (cdb) {
            case SynchronizeCache _,WriteAndVerify _ -> true;
            case WriteBlocks write -> write.fua() || unit.modes().writeThrough();
            case WriteAtomic write -> write.fua() || unit.modes().writeThrough();
            case CompareAndWrite write -> write.fua() || unit.modes().writeThrough();
            case OrWrite write -> write.fua() || unit.modes().writeThrough();
            case StartStopUnit command -> MediumCommands.flushes(command);
            default -> false;
        };
    }

    /** Returns the sense for REQUEST SENSE while there is nothing else to report (SPC-5 section 6.39). */
    private Sense pollable() {
        return unit.modes()
                .simulatedException() == InformationalExceptionsModePage.ON_REQUEST
                        ? Sense.of(SenseKey.NO_SENSE, AdditionalSense.FAILURE_PREDICTION_FALSE)
                        : Sense.NONE;
    }

    private void supportedCommands(ScsiTask task, ReportSupportedOperationCodes command) {
        try {
            task.good(table.answer(command).bytes(), cut(command.allocationLength()));
        } catch (InvalidCdbException e) {
            task.checkCondition(e.sense());
        }
    }

    @Override
    public boolean descriptorSense() { return mode.descriptorSense(); }

    private CapacityData16 capacity16() {
        int exponent = Integer
                .numberOfTrailingZeros(device.geometry().physicalBlockSize() / device.blockSize());
        boolean thin = device.supports(Capability.UNMAP);
        return new CapacityData16(device.blockCount() - 1, device.blockSize(), 0, exponent, thin,
                thin, 0);
    }

    static int cut(long allocationLength) {
        return (int) Math.min(allocationLength, Integer.MAX_VALUE);
    }
}
