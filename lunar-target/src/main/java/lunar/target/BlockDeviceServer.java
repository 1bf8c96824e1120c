package lunar.target;

import java.lang.foreign.ValueLayout;
import java.util.BitSet;
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

    private final TargetNode target;
    private final LogicalUnit unit;
    private final BlockDevice device;
    private final InquiryCommands inquiry;
    private final ModeCommands mode;
    private final BlockCommands blocks;
    private final ProvisioningCommands provisioning;
    private final CommandTable commands;

    /** Operation code and service action of every command in the table, for a look-up at every command. */
    private final BitSet known = new BitSet();

    BlockDeviceServer(TargetNode target, LogicalUnit unit, ServerLimits limits) {
        this.target = target;
        this.unit = unit;
        device = unit.device();
        int maxTransferBlocks = Math.min(device.limits().maxTransferBlocks(),
                limits.maxTransferBytes() / device.blockSize());
        inquiry = new InquiryCommands(target, device, maxTransferBlocks);
        mode = new ModeCommands(target, unit);
        blocks = new BlockCommands(device, mode, maxTransferBlocks);
        provisioning = new ProvisioningCommands(device, mode);
        commands = CommandTable.standard(this::isSupported);
        for (CommandDescriptor command : commands.commands()) {
            for (int action = 0; action <= ACTION_MASK; action++) {
                if (command.serviceAction().isEmpty()
                        || command.serviceAction().getAsInt() == action) {
                    known.set(command.opcode() << ACTION_BITS | action);
                }
            }
        }
    }

    @Override
    public void prepare(Task task) {
        Cdb cdb;
        try {
            cdb = Cdb.decode(task.cdbBytes);
        } catch (InvalidCdbException e) {
            task.refuse(e.sense());
            return;
        }
        int action = task.cdbBytes.get(ValueLayout.JAVA_BYTE, 1) & ACTION_MASK;
        if (!known.get(cdb.opcode() << ACTION_BITS | action)) {
            task.refuse(InvalidCdbException.operationCode().sense());
            return;
        }
        long blockSize = device.blockSize();
        task.accept(cdb, switch (cdb) {
            case WriteBlocks write -> write.blockCount() * blockSize;
            case CompareAndWrite compare -> 2L * compare.blockCount() * blockSize;
            case WriteSame same -> same.noDataOut() ? 0 : blockSize;
            case VerifyBlocks verify -> switch (verify.bytchk()) {
                case 0 -> 0;
                case 1 -> verify.blockCount() * blockSize;
                default -> verify.blockCount() == 0 ? 0 : blockSize;
            };
            case Unmap unmap -> unmap.parameterListLength();
            case ModeSelect select -> select.parameterListLength();
            default -> 0;
        });
    }

    /** Which of the standard commands this device server executes: those it can say nothing false about. */
    private boolean isSupported(CommandDescriptor command) {
        return switch (command.name()) {
            case "COMPARE AND WRITE" -> device.supports(Capability.COMPARE_AND_WRITE);
            case "UNMAP" -> device.supports(Capability.UNMAP);
            case "REPORT TARGET PORT GROUPS",
                    "REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS" ->
                false;
            default ->
                !command.name().startsWith("PERSISTENT") && !command.name().startsWith("RESERVE")
                        && !command.name().startsWith("RELEASE")
                        && !command.name().startsWith("WRITE AND VERIFY");
        };
    }

    @Override
    public void execute(Task task) {
        if (reportsAttention(task)) {
            return;
        }
        switch (task.cdb()) {
            case ReadBlocks read -> blocks.read(task, read);
            case WriteBlocks write -> blocks.write(task, write);
            case SynchronizeCache command -> blocks.synchronize(task, command);
            case VerifyBlocks verify -> blocks.verify(task, verify);
            case CompareAndWrite compare -> blocks.compareAndWrite(task, compare);
            case PreFetch prefetch -> blocks.prefetch(task, prefetch);
            case Unmap unmap -> provisioning.unmap(task, unmap);
            case WriteSame same -> provisioning.writeSame(task, same);
            case TestUnitReady _,PreventAllowMediumRemoval _ -> task.good();
            case StartStopUnit start -> startStop(task, start);
            case RequestSense request ->
                task.good(Sense.NONE.encode(request.descriptorFormat()),
                        request.allocationLength());
            case Inquiry data -> inquiry.execute(task, data);
            case ModeSense sense -> mode.sense(task, sense);
            case ReadCapacity10 _ ->
                task.good(CapacityData10.of(device.blockCount(), device.blockSize()).bytes(), 8);
            case ReadCapacity16 capacity ->
                task.good(capacity16().bytes(), cut(capacity.allocationLength()));
            case ReportLuns report -> AbsentDeviceServer.reportLuns(task, report, target);
            case ModeSelect select -> mode.select(task, select);
            case GetLbaStatus status -> provisioning.status(task, status);
            case ReportSupportedOperationCodes report -> supportedCommands(task, report);
            default -> throw new IllegalStateException(task.cdb().toString());
        }
    }

    /**
     * A pending unit attention ends the command instead (SAM-5 section 5.14), but for INQUIRY and REPORT LUNS, which
     * leave it, and REQUEST SENSE, which tells it as its data.
     */
    private boolean reportsAttention(Task task) {
        if (task.cdb() instanceof Inquiry || task.cdb() instanceof ReportLuns) {
            return false;
        }
        AdditionalSense attention = task.session().takeAttention(unit);
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
    private void startStop(Task task, StartStopUnit command) {
        if (command.loadEject()) {
            task.checkCondition(Sense.invalidFieldInCdb(4, 1));
        } else if (command.start()) {
            task.good();
        } else {
            blocks.flush(task);
        }
    }

    private void supportedCommands(Task task, ReportSupportedOperationCodes command) {
        try {
            task.good(commands.answer(command).bytes(), cut(command.allocationLength()));
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
