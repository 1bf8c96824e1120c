package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.osd.store.ObjectStore;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.target.security.DeviceSecurity;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.osd.wire.command.FlushCommand;
import lunar.osd.wire.command.FormatOsdCommand;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.PerformScsiCommand;
import lunar.osd.wire.command.PerformTaskManagementCommand;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.command.ReadMapCommand;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.osd.wire.command.SetMasterKeyCommand;
import lunar.osd.wire.command.StructureCheckCommand;
import lunar.osd.wire.data.TaskManagementResponse;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.Sense;
import lunar.scsi.command.CommandDescriptor;
import lunar.scsi.target.CommandHandler;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.ReaderRule;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.wire.BigEndian;

/** The commands of a device. Without security, those that set keys are not supported. */
public final class OsdCommands {
    private static final int OPCODE = 0x7f;
    private static final int RESERVED_FROM = 2;
    private static final int ADDITIONAL_LENGTH_AT = 7;
    private static final int SERVICE_ACTION_AT = 8;

    private final DeviceState device;
    private final CommandRunner runner;
    private final CommandChecks checks;

    /**
     * @param clock the device's clock, in milliseconds since 1970 UTC
     * @param threads run the commands
     * @param security which commands are admitted
     * @param tokens returns the security token of an I_T nexus
     */
    public OsdCommands(ObjectStore store, Identity identity, OsdLimits limits,
            LongSupplier clock, CommandThreads threads, DeviceSecurity security,
            Function<Nexus, Bytes> tokens) {
        device = DeviceState.of(store, identity, limits, clock, threads, security, tokens);
        runner = new CommandRunner(device);
        checks = new CommandChecks(limits, security);
    }

    /** Adds the commands. */
    public void register(CommandSet commands) {
        commands.withDecoder(OPCODE, checks::decode,
                descriptors().toArray(CommandDescriptor[]::new));
        add(commands, ByteRangeCommand.class, DataCommands::execute);
        add(commands, CreateCommand.class, ObjectCommands::create);
        add(commands, CreatePartitionCommand.class, ObjectCommands::createPartition);
        add(commands, CreateCollectionCommand.class, CollectionCommands::create);
        add(commands, RemoveCommand.class, ObjectCommands::remove);
        add(commands, FormatOsdCommand.class, ObjectCommands::format);
        add(commands, AttributesCommand.class, OsdCommands::attributes);
        add(commands, ListCommand.class, ListCommands::execute);
        commands.add(handler(FlushCommand.class, FlushCommands::execute)
                .forReaders(OsdCommands::readerRule));
        add(commands, QueryCommand.class, QueryCommands::execute);
        add(commands, ReadMapCommand.class, MapCommands::execute);
        add(commands, StructureCheckCommand.class, StructureCheck::execute);
        commands.add(CommandHandler.of(PerformScsiCommand.class, OsdAccess::of,
                this::performScsi).takingAnyDataOut())
                .add(CommandHandler.of(PerformTaskManagementCommand.class, OsdAccess::of,
                        this::performTaskManagement))
                .add(CommandHandler.of(SetMasterKeyCommand.class, OsdAccess::of,
                        OsdCommands::notSupported)
                        .withDataOut(checks::dataOutBytes).takingLess());
        if (device.security().isOn()) {
            add(commands, SetKeyCommand.class, KeyCommands::execute);
        } else {
            commands.add(CommandHandler.of(SetKeyCommand.class, OsdAccess::of,
                    OsdCommands::notSupported));
        }
    }

    private <C extends OsdCdb> void add(CommandSet commands, Class<C> type,
            CommandRunner.Function<C> function) {
        commands.add(handler(type, function));
    }

    private <C extends OsdCdb> CommandHandler<C> handler(Class<C> type,
            CommandRunner.Function<C> function) {
        return CommandHandler
                .of(type, OsdAccess::of,
                        (task, command) -> runner.execute(task, command, function))
                .withDataOut(checks::dataOutBytes).takingLess().takingLong();
    }

    /** A flush changes no data: initiators that may only read send it too, as they do to disks. */
    private static ReaderRule readerRule(FlushCommand command) {
        return AttributeRequests.sets(command.common().attributes())
                ? ReaderRule.PROTECTED
                : ReaderRule.ALLOWED;
    }

    private static void attributes(CommandRun run, AttributesCommand command)
            throws StorageException, RefusedException {
        switch (command.action()) {
            case GET_ATTRIBUTES -> ObjectCommands.getAttributes(run, command);
            case SET_ATTRIBUTES -> ObjectCommands.setAttributes(run, command);
            default -> MemberCommands.execute(run, command);
        }
    }

    // --- commands that are not run by the runner ---

    /** Executes the command in the CDB. */
    private void performScsi(ScsiTask task, PerformScsiCommand command) {
        admit(task, command, admitted -> new EmbeddedTask(admitted, command).execute());
    }

    /**
     * Rejects every function: task management belongs to the transport, which knows the tasks and their tags, and has
     * requests for it.
     */
    private void performTaskManagement(ScsiTask task, PerformTaskManagementCommand command) {
        admit(task, command, admitted -> admitted.good(
                new TaskManagementResponse(TaskManagementResponse.REJECTED, 0).bytes(),
                command.allocationLength()));
    }

    /** Executes a command if it is admitted; there is no place for attributes beside it. */
    private void admit(ScsiTask task, OsdCdb command, Consumer<ScsiTask> function) {
        if (AttributeRequests.isNone(command.common().attributes())) {
            runner.admit(task, command, function);
        } else {
            refuse(task, command, Sense.invalidFieldInCdb(CdbFieldAt.ATTRIBUTES));
        }
    }

    private static void notSupported(ScsiTask task, OsdCdb command) {
        refuse(task, command, InvalidCdbException.operationCode().sense());
    }

    private static void refuse(ScsiTask task, OsdCdb command, Sense sense) {
        task.checkCondition(sense.withDescriptor(
                FunctionProgress.invalid(command.object()).descriptor()));
    }

    // --- descriptors ---

    private List<CommandDescriptor> descriptors() {
        var all = new ArrayList<CommandDescriptor>();
        for (OsdVersion version : OsdVersion.values()) {
            for (ServiceAction action : ServiceAction.values()) {
                boolean supported = action.hasLayout() && action.isIn(version)
                        && (action != ServiceAction.SET_KEY || device.security().isOn())
                        && action != ServiceAction.SET_MASTER_KEY;
                if (supported) {
                    all.add(descriptor(action, version));
                }
            }
        }
        return all;
    }

    /** The device looks at all fields but the reserved ones. */
    private static CommandDescriptor descriptor(ServiceAction action, OsdVersion version) {
        byte[] usage = new byte[version.cdbLength()];
        Arrays.fill(usage, (byte) 0xff);
        Arrays.fill(usage, RESERVED_FROM, ADDITIONAL_LENGTH_AT, (byte) 0);
        usage[0] = OPCODE;
        int code = action.code(version);
        BigEndian.int16(MemorySegment.ofArray(usage), SERVICE_ACTION_AT, code);
        return new CommandDescriptor(action.toString(), OPCODE, OptionalInt.of(code),
                Bytes.of(usage), Optional.empty());
    }
}
