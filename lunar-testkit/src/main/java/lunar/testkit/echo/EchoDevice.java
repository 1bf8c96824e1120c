package lunar.testkit.echo;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import lunar.block.Identity;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.command.CommandDescriptor;
import lunar.scsi.mode.ControlModePage;
import lunar.scsi.mode.ModePages;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandHandler;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.ModeCommands;
import lunar.scsi.target.PeripheralDevice;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.UnitModes;
import lunar.scsi.vpd.OtherVpdPage;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.vpd.VpdPage;

/**
 * A processor device (SPC-2 device type 03h) that returns the data that it receives. It has two bidirectional commands,
 * one of them with a variable-length CDB, a page of vital product data and a mode page. ECHO reads, by the rules of
 * reservations, and ADD writes.
 */
final class EchoDevice implements PeripheralDevice, ModeCommands.Source {
    private static final int PROCESSOR = 0x03;
    private static final int SPC_4 = 6;
    private static final int VENDOR_PAGE = 0xc1;

    private final LogicalUnit unit;
    private final Identity identity;
    private final UnitModes<Boolean> modes;
    private volatile int resets;

    EchoDevice(LogicalUnit unit, EchoSpec spec) throws IOException {
        this.unit = unit;
        identity = new Identity("LUNAR", "ECHO", "0.1", spec.name(), Identity.uuidOf(spec.name()));
        ModePages defaults = ModePages.of(
                List.of(ModePages.Entry.of(ControlModePage.of(false, false, false, 0),
                        ControlModePage.changeable())),
                spec.state().isPersistent());
        modes = new UnitModes<>(spec.name(), defaults, spec.state(), ModePages::descriptorSense);
    }

    @Override
    public Identity identity() { return identity; }

    @Override
    public StandardInquiry inquiry() {
        return new StandardInquiry(0, PROCESSOR, false, SPC_4, false, true, false, 0, false, false,
                false, false, true, identity.vendor(), identity.product(), identity.revision(),
                List.of());
    }

    @Override
    public List<VpdPage> vpdPages() {
        return List.of(new OtherVpdPage(VENDOR_PAGE,
                Bytes.of(("resets " + resets).getBytes(StandardCharsets.US_ASCII))));
    }

    @Override
    public UnitModes<?> modes() { return modes; }

    @Override
    public int deviceSpecific(ScsiTask task) { return 0; }

    @Override
    public ModeParameters.Blocks blocks() { return new ModeParameters.Blocks(0, 1); }

    @Override
    public boolean descriptorSense() { return modes.values(); }

    /** Adds the commands. */
    void register(CommandSet commands) {
        commands.withDecoder(EchoCdb.OPCODE, EchoCdb::decode,
                usage("ECHO", new EchoCdb(true).bytes(),
                        OptionalInt.empty()))
                .withDecoder(AddCdb.OPCODE, AddCdb::decode, usage("ADD",
                        new AddCdb(Bytes.of(new byte[]{-1, -1, -1, -1})).bytes(),
                        OptionalInt.of(AddCdb.SERVICE_ACTION)))
                .add(CommandHandler.of(EchoCdb.class, Access.READ, this::echo).takingAnyDataOut())
                .add(CommandHandler.of(AddCdb.class, Access.WRITE, this::add).takingAnyDataOut());
        new ModeCommands(unit, this).register(commands);
    }

    private static CommandDescriptor usage(String name, byte[] cdb, OptionalInt serviceAction) {
        return new CommandDescriptor(name, cdb[0] & 0xff, serviceAction, Bytes.of(cdb),
                Optional.empty());
    }

    private void echo(ScsiTask task, EchoCdb command) {
        MemorySegment data = task.dataOut();
        MemorySegment room = task.roomForDataIn((int) data.byteSize());
        if (room == null) {
            task.end(Status.BUSY);
            return;
        }
        room.copyFrom(data);
        if (command.recovered()) {
            task.checkCondition(Sense.of(SenseKey.RECOVERED_ERROR, AdditionalSense.NONE),
                    (int) data.byteSize());
        } else {
            task.good((int) data.byteSize());
        }
    }

    private void add(ScsiTask task, AddCdb command) {
        MemorySegment data = task.dataOut();
        MemorySegment room = task.roomForDataIn((int) data.byteSize());
        if (room == null) {
            task.end(Status.BUSY);
            return;
        }
        for (int at = 0; at < data.byteSize(); at++) {
            room.set(ValueLayout.JAVA_BYTE, at,
                    command.sum(data.get(ValueLayout.JAVA_BYTE, at), at));
        }
        task.good((int) data.byteSize());
    }

    @Override
    public synchronized CompletableFuture<Void> reset() {
        resets++;
        return modes.reset().thenRun(() -> {});
    }

    @Override
    public void startFollowing() throws IOException {
        modes.begin(unit, (_, _) -> CompletableFuture.completedFuture(null));
    }

    @Override
    public CompletableFuture<Void> stopFollowing() {
        modes.end();
        return CompletableFuture.completedFuture(null);
    }
}
