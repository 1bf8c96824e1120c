package lunar.target.device;

import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.Objects;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.scsi.AdditionalSense;
import lunar.scsi.CapacityData10;
import lunar.scsi.CapacityData16;
import lunar.scsi.Cdb;
import lunar.scsi.CommandDescriptor;
import lunar.scsi.CommandTable;
import lunar.scsi.CompareAndWrite;
import lunar.scsi.GetLbaStatus;
import lunar.scsi.Inquiry;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.ModeSelect;
import lunar.scsi.ModeSense;
import lunar.scsi.PreFetch;
import lunar.scsi.PreventAllowMediumRemoval;
import lunar.scsi.ReadBlocks;
import lunar.scsi.ReadCapacity10;
import lunar.scsi.ReadCapacity16;
import lunar.scsi.ReportLuns;
import lunar.scsi.ReportSupportedOperationCodes;
import lunar.scsi.RequestSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.StartStopUnit;
import lunar.scsi.SynchronizeCache;
import lunar.scsi.TestUnitReady;
import lunar.scsi.Unmap;
import lunar.scsi.VerifyBlocks;
import lunar.scsi.WriteBlocks;
import lunar.scsi.WriteSame;

/**
 * A direct-access block device (SPC-5, SBC-4) over a {@link BlockDevice}. Says which command needs which data, and
 * who executes it; the commands themselves stand in the classes beside it, by family.
 */
final class BlockDeviceServer implements DeviceServer {
    private static final int ACTION_BITS = 5;
    private static final int ACTION_MASK = 0x1f;

    private final ScsiTarget target;
    private final LogicalUnit unit;
    private final BlockDevice device;
    private final ModeCommands mode;
    private final BlockCommands blocks;
    private final CommandSet commands = new CommandSet();
    private final CommandTable table;

    /** Operation code and service action of every command in the table, for a look-up at every command. */
    private final BitSet known = new BitSet();

    BlockDeviceServer(ScsiTarget target, LogicalUnit unit, int maxTransferBytes) {
        this.target = target;
        this.unit = unit;
        device = unit.device();
        int maxTransferBlocks = Math.min(device.limits().maxTransferBlocks(),
                maxTransferBytes / device.blockSize());
        mode = new ModeCommands(target, unit);
        blocks = new BlockCommands(device, mode, maxTransferBlocks);
        registerOwn();
        blocks.register(commands);
        mode.register(commands);
        new InquiryCommands(target, device, maxTransferBlocks).register(commands);
        new ProvisioningCommands(device, mode).register(commands);
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
        commands.on(TestUnitReady.class, Access.NONE, (task, _) -> task.good())
                .on(PreventAllowMediumRemoval.class, Access.NONE, (task, _) -> task.good())
                .on(StartStopUnit.class, Access.WRITE, this::startStop)
                .on(RequestSense.class, Access.NONE,
                        (task, request) -> task.good(Sense.NONE.encode(request.descriptorFormat()),
                                request.allocationLength()))
                .on(ReadCapacity10.class, Access.NONE, (task, _) -> task.good(
                        CapacityData10.of(device.blockCount(), device.blockSize()).bytes(), 8))
                .on(ReadCapacity16.class, Access.NONE, (task, capacity) -> task
                        .good(capacity16().bytes(), cut(capacity.allocationLength())))
                .on(ReportLuns.class, Access.NONE,
                        (task, report) -> AbsentDeviceServer.reportLuns(task, report, target))
                .on(ReportSupportedOperationCodes.class, Access.NONE, this::supportedCommands);
    }

    @Override
    public void prepare(ScsiTask task) {
        Cdb cdb;
        try {
            cdb = Cdb.decode(task.cdbBytes());
        } catch (InvalidCdbException e) {
            task.refuse(e.sense());
            return;
        }
        int action = task.cdbBytes().get(ValueLayout.JAVA_BYTE, 1) & ACTION_MASK;
        CommandSet.Handler<?> handler = known.get(cdb.opcode() << ACTION_BITS | action)
                ? commands.handler(cdb)
                : null;
        if (handler == null) {
            task.refuse(InvalidCdbException.operationCode().sense());
            return;
        }
        task.accept(cdb, handler.dataOut(cdb));
    }

    @Override
    public void execute(ScsiTask task) {
        if (!reportsAttention(task)) {
            Objects.requireNonNull(commands.handler(task.cdb())).execute(task);
        }
    }

    /**
     * A pending unit attention ends the command instead (SAM-5 section 5.14), but for INQUIRY and REPORT LUNS, which
     * leave it, and REQUEST SENSE, which tells it as its data.
     */
    private boolean reportsAttention(ScsiTask task) {
        if (task.cdb() instanceof Inquiry || task.cdb() instanceof ReportLuns) {
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

    /** There is no motor and no medium to eject; a stop makes the cache stable, as a host that powers down expects. */
    private void startStop(ScsiTask task, StartStopUnit command) {
        if (command.loadEject()) {
            task.checkCondition(Sense.invalidFieldInCdb(4, 1));
        } else if (command.start()) {
            task.good();
        } else {
            blocks.flush(task);
        }
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
