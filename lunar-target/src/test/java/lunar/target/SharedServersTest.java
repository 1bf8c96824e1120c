package lunar.target;

import static lunar.target.RawInitiator.bytes;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest.Operation;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.copy.BlockCopySegment;
import lunar.scsi.copy.CopyParameterList;
import lunar.scsi.copy.CscdDescriptor;
import lunar.scsi.copy.ExtendedCopy;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.reservation.ReserveOutParameters;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.block.DiskSpec;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Naa;
import lunar.testkit.SharedStates;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two servers of one unit, command by command: what one of them answers while the other changes the unit. */
class SharedServersTest {
    private static final byte[] READY = new byte[6];
    private static final long KEY = 0x1111;
    private static final String SET_GROUPS = "a40a 00000000 00000008 0000";
    private static final String STANDBY_2 = "00000000 02000002";
    private static final String ACTIVE_2 = "00000000 00000002";
    private static final String ERASE = "48020000000000000000";
    private static final String ERASE_AT_ONCE = "48820000000000000000";
    private static final String OVERWRITE_AUSE = "48210000000000000600";
    private static final String EXIT_FAILURE_MODE = "481f0000000000000000";
    private static final int ERASING = 0x02_04_1b;

    private final SharedStates states = new SharedStates();
    private final List<AutoCloseable> open = new ArrayList<>();
    private BlockDevice memory;
    private long abortMs = TargetFixture.LIMITS.abortTimeoutMs();

    @BeforeEach
    void begin() throws StorageException {
        memory = Devices.open("ram:1MiB");
        open.add(memory);
    }

    /** A server with a path of its own to the memory. */
    private final class Server implements AutoCloseable {
        final StateStore store = states.join();
        final GatedDevice device;
        final TargetServer server;

        Server(int group, BlockDevice below) throws IOException {
            this(group, below, spec -> spec);
        }

        Server(int group, BlockDevice below, UnaryOperator<TargetSpec> more) throws IOException {
            device = new GatedDevice(below);
            server = TargetServer.builder().limits(TargetFixture.limits(600_000, 600_000, abortMs))
                    .portal(PortalSpec.of(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                            .withGroup(group))
                    .portal(PortalSpec.ofOtherServer(
                            new TargetAddress("127.0.0.1", 1, OptionalInt.empty()), 3 - group))
                    .target(more.apply(TargetSpec.of(RawInitiator.TARGET).withLun(0,
                            DiskSpec.of(device).withState(store))))
                    .start();
            open.add(this);
        }

        RawInitiator ready(int qualifier) throws IOException {
            RawInitiator initiator = RawInitiator.ready(server, qualifier);
            open.add(initiator);
            initiator.takeAttentions();
            return initiator;
        }

        @Override
        public void close() {
            device.open();
            server.close();
        }
    }

    private Server server(int group) throws IOException { return new Server(group, memory); }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    private static byte[] out(int action) {
        return new PersistentReserveOut(action, 0,
                action == PersistentReserveOut.REGISTER
                        ? 0
                        : ReservationType.WRITE_EXCLUSIVE.code(),
                24).bytes();
    }

    private static RawInitiator registered(RawInitiator initiator) throws IOException {
        assertThat(initiator.commandOut(out(PersistentReserveOut.REGISTER),
                ReserveOutParameters.of(0, KEY).bytes()).status()).isEqualTo(Status.GOOD);
        return initiator;
    }

    private static Status write(RawInitiator initiator) throws IOException {
        return initiator.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1)).status();
    }

    private static long versionOf(String state, StateStore store) {
        try {
            return store.read(state).version();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until a unit attention or an obstacle is told, by TEST UNIT READY. */
    private static void awaitSense(String why, RawInitiator initiator, int sense) {
        TargetFixture.await(why, () -> {
            try {
                return initiator.command(READY, 0).sense() == sense;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    // --- changes whose outcome is not known ---

    @Test
    void shouldObeyAReservationThatIsSavedBeforeTheStoreAnswers() throws Exception {
        Server first = server(1);
        RawInitiator holder = registered(first.ready(1));
        RawInitiator neighbour = first.ready(2);
        RawInitiator remote = server(2).ready(3);
        try (var held = states.holdAnswers()) {
            holder.send(Lun.ZERO, out(PersistentReserveOut.RESERVE),
                    ReserveOutParameters.of(KEY, 0).bytes(), 0);
            held.awaitSaved();
            assertThat(write(remote)).isEqualTo(Status.RESERVATION_CONFLICT);
            assertThat(write(neighbour)).as("the other server refuses it already")
                    .isEqualTo(Status.BUSY);
        }
        assertThat(holder.receive().status()).isEqualTo(Status.GOOD);
        assertThat(write(neighbour)).isEqualTo(Status.RESERVATION_CONFLICT);
        assertThat(write(holder)).isEqualTo(Status.GOOD);
    }

    @Test
    void shouldObeyAReservationWhoseAnswerIsLost() throws Exception {
        Server first = server(1);
        RawInitiator holder = registered(first.ready(1));
        RawInitiator neighbour = first.ready(2);
        RawInitiator remote = server(2).ready(3);
        states.loseAnswers(first.store);
        assertThat(holder.commandOut(out(PersistentReserveOut.RESERVE),
                ReserveOutParameters.of(KEY, 0).bytes()).sense()).isEqualTo(0x04_44_00);
        assertThat(write(remote)).isEqualTo(Status.RESERVATION_CONFLICT);
        assertThat(write(neighbour)).isEqualTo(Status.BUSY);
        states.reach(first.store);
        TargetFixture.await("the store has been read", () -> {
            try {
                return write(neighbour) == Status.RESERVATION_CONFLICT;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(write(holder)).isEqualTo(Status.GOOD);
    }

    @Test
    void shouldTakeAPortGroupThatOthersHaveInStandbyForOneInTransition() throws Exception {
        Server first = server(1);
        Server second = server(2);
        RawInitiator remote = first.ready(1);
        RawInitiator changer = second.ready(2);
        RawInitiator neighbour = second.ready(3);
        try (var held = states.holdAnswers()) {
            changer.send(Lun.ZERO, bytes(SET_GROUPS), bytes(STANDBY_2), 0);
            held.awaitSaved();
            assertThat(remote.command(READY, 0).sense()).isEqualTo(0x06_2a_06);
            assertThat(neighbour.command(READY, 0).sense()).isEqualTo(0x02_04_0a);
        }
        assertThat(changer.receive().status()).isEqualTo(Status.GOOD);
        assertThat(neighbour.command(READY, 0).sense()).isEqualTo(0x06_2a_06);
        assertThat(neighbour.command(READY, 0).sense()).isEqualTo(0x02_04_0b);
        assertThat(changer.command(READY, 0).sense()).isEqualTo(0x02_04_0b);
    }

    @Test
    void shouldKeepAPortGroupInTransitionUntilTheStoreTellsItsState() throws Exception {
        Server first = server(1);
        Server second = server(2);
        RawInitiator remote = first.ready(1);
        RawInitiator changer = second.ready(2);
        states.loseAnswers(second.store);
        assertThat(changer.commandOut(SET_GROUPS, bytes(STANDBY_2)).sense()).isEqualTo(0x04_67_0a);
        assertThat(remote.command(READY, 0).sense()).isEqualTo(0x06_2a_06);
        assertThat(changer.command(READY, 0).sense()).isEqualTo(0x02_04_0a);
        states.reach(second.store);
        awaitSense("the store has been read", changer, 0x06_2a_06);
        assertThat(changer.command(READY, 0).sense()).isEqualTo(0x02_04_0b);
        assertThat(changer.commandOut(SET_GROUPS, bytes(ACTIVE_2)).status())
                .isEqualTo(Status.GOOD);
        assertThat(changer.command(READY, 0).status()).isEqualTo(Status.GOOD);
    }

    @Test
    void shouldCopyNothingOntoAUnitThatOthersMayHaveReserved() throws Exception {
        BlockDevice local = Devices.open("ram:1MiB");
        open.add(local);
        var first = new Server(1, memory, spec -> spec.withLun(1, local));
        RawInitiator holder = registered(first.ready(1));
        RawInitiator copying = first.ready(2);
        Lun receiving = Lun.of(1);
        assertThat(copying.command(receiving, READY, 0).sense() >> 16).as("power on").isEqualTo(6);
        byte[] list = CopyFixture.list(0, CopyParameterList.NO_IDENTIFIER,
                List.of(cscd(local), cscd(memory)),
                new BlockCopySegment(false, false, 0, 1, 1, 0, 0)).bytes();
        try (var held = states.holdAnswers()) {
            holder.send(Lun.ZERO, out(PersistentReserveOut.RESERVE),
                    ReserveOutParameters.of(KEY, 0).bytes(), 0);
            held.awaitSaved();
            copying.send(receiving, new ExtendedCopy(false, list.length).bytes(), list, 0);
            assertThat(copying.receive().status()).isEqualTo(Status.BUSY);
        }
        assertThat(holder.receive().status()).isEqualTo(Status.GOOD);
        copying.send(receiving, new ExtendedCopy(false, list.length).bytes(), list, 0);
        assertThat(copying.receive().status()).isEqualTo(Status.RESERVATION_CONFLICT);
    }

    private static CscdDescriptor cscd(BlockDevice device) {
        return CscdDescriptor.disk(
                Designator.ofUnit(Naa.locallyAssigned(device.identity().uuid())),
                device.blockSize());
    }

    /** GOOD says that all servers act by the state, not only the two that know of it. */
    @ParameterizedTest
    @CsvSource({"151000001800, 000000000812000000000000000000000000000000000000, 0x062a01",
            SET_GROUPS + ", 0000000001000002, 0x062a06"})
    void shouldNotSucceedBeforeAllServersActByWhatAnotherOneHasChanged(String cdb, String data,
            int attention) throws Exception {
        RawInitiator changing = server(1).ready(1);
        RawInitiator repeating = server(2).ready(2);
        var third = new CompletableFuture<Void>();
        try (var _ = states.join().subscribe(_ -> third)) {
            changing.send(Lun.ZERO, bytes(cdb), bytes(data), 0);
            awaitSense("the second server follows", repeating, attention);
            repeating.send(Lun.ZERO, bytes(cdb), bytes(data), 0);
            assertThat(repeating.isQuiet()).isTrue();
            third.complete(null);
            assertThat(repeating.receive().status()).isEqualTo(Status.GOOD);
            assertThat(changing.receive().status()).isEqualTo(Status.GOOD);
        }
    }

    /** Another server may wait for its end, and the other change for that server. */
    @Test
    void shouldAbortAChangeThatWaitsForAnotherOne() throws Exception {
        Server first = server(1);
        RawInitiator holder = registered(first.ready(1));
        RawInitiator waiting = first.ready(2);
        try (var held = states.holdAnswers()) {
            holder.send(Lun.ZERO, out(PersistentReserveOut.RESERVE),
                    ReserveOutParameters.of(KEY, 0).bytes(), 0);
            held.awaitSaved();
            waiting.send(Lun.ZERO, out(PersistentReserveOut.REGISTER),
                    ReserveOutParameters.of(0, 2).bytes(), 0);
            int abort = waiting.manage(TaskManagementFunction.ABORT_TASK_SET, Bhs.NO_TAG);
            assertThat(waiting.managed(abort))
                    .isEqualTo(TaskManagementResponseCode.FUNCTION_COMPLETE.code());
        }
        assertThat(holder.receive().status()).isEqualTo(Status.GOOD);
        byte[] keys = holder.command("5e000000000000010000", 256).data();
        assertThat(keys[7]).as("one registration").isEqualTo((byte) 8);
    }

    @Test
    void shouldSetStatesOfPortGroupsAfterOneWasRemovedBeforeItsStateWasSet() throws Exception {
        Server first = server(1);
        RawInitiator initiator = first.ready(1);
        TargetSpec both = first.server.spec(RawInitiator.TARGET).orElseThrow();
        TargetSpec one = both.withGroups(List.of(1));
        try (var held = states.holdAnswers()) {
            var _ = first.server.update(both.withState(2, State.STANDBY));
            held.awaitSaved();
            var _ = first.server.update(both);
            var _ = first.server.update(one);
        }
        var _ = first.server.update(one.withState(1, State.STANDBY));
        awaitSense("the last state is set", initiator, 0x02_04_0b);
    }

    // --- resets ---

    @Test
    void shouldAbortTasksOfTheOtherServerByAReset() throws Exception {
        Server first = server(1);
        Server second = server(2);
        RawInitiator resetting = first.ready(1);
        RawInitiator remote = second.ready(2);
        second.device.shut(1);
        remote.write(Lun.ZERO, 0, blocks(1, 2));
        second.device.awaitArrivals();
        int reset = resetting.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, Bhs.NO_TAG);
        awaitSense("tasks are marked as aborted", remote, 0x06_29_03);
        resetting.assertSilent();
        second.device.open();
        assertThat(resetting.managed(reset))
                .isEqualTo(TaskManagementResponseCode.FUNCTION_COMPLETE.code());
        remote.assertSilent();
        assertThat(resetting.command(READY, 0).sense()).isEqualTo(0x06_29_03);
        assertThat(resetting.takeAttentions()).isZero();
        assertThat(remote.takeAttentions()).isZero();
    }

    /** A fence around the write would hold at one server only. */
    @Test
    void shouldNotTellThatAWriteIsAbortedWhichMayStillLand() throws Exception {
        abortMs = 100;
        Server first = server(1);
        RawInitiator writing = first.ready(1);
        RawInitiator remote = server(2).ready(2);
        first.device.shut(1);
        int tag = writing.write(Lun.ZERO, 0, blocks(1, 1));
        first.device.awaitArrivals();
        int abort = writing.manage(TaskManagementFunction.ABORT_TASK_SET, Bhs.NO_TAG);
        assertThat(writing.managed(abort)).as("while the device has it")
                .isEqualTo(TaskManagementResponseCode.FUNCTION_REJECTED.code());
        first.device.open();
        assertThat(writing.receive().bhs().itt()).as("not aborted").isEqualTo(tag);
        assertThat(write(remote)).isEqualTo(Status.GOOD);
    }

    // --- erasures ---

    @Test
    void shouldEraseAfterCommandsOfAllServersAndTellAllOfIt() throws Exception {
        Server first = server(1);
        Server second = server(2);
        RawInitiator erasing = first.ready(1);
        RawInitiator remote = second.ready(2);
        second.device.shut(1);
        int writing = remote.write(Lun.ZERO, 0, blocks(1, 7));
        second.device.awaitArrivals();
        first.device.shut(1);
        int erase = erasing.send(bytes(ERASE), 0);
        awaitSense("the other server follows", remote, ERASING);
        assertThat(first.device.executedCount()).as("while the other server writes").isZero();
        assertThat(remote.commandOut(ERASE, new byte[0]).sense()).isEqualTo(ERASING);
        second.device.open();
        assertThat(remote.receive().bhs().itt()).isEqualTo(writing);
        first.device.awaitArrivals();
        assertThat(remote.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 8)).sense())
                .isEqualTo(ERASING);
        first.device.open();
        assertThat(erasing.receive().bhs().itt()).isEqualTo(erase);
        assertThat(remote.command(READY, 0).status()).isEqualTo(Status.GOOD);
        assertThat(remote.read(0, 1)).isEqualTo(blocks(1, 0));
    }

    @Test
    void shouldFailAtAllServersUntilOneOfThemEndsThat() throws Exception {
        BlockDevice faulty = Devices.open("fault=0,op=write,lba=2000-2000:ram:1MiB");
        open.add(faulty);
        RawInitiator erasing = new Server(1, faulty).ready(1);
        RawInitiator remote = server(2).ready(2);
        assertThat(erasing.commandOut(OVERWRITE_AUSE, bytes("01000002a50f")).sense())
                .isEqualTo(0x03_31_03);
        assertThat(remote.command(READY, 0).sense()).isEqualTo(0x03_31_03);
        RawInitiator late = server(2).ready(3);
        assertThat(late.command(READY, 0).sense()).isEqualTo(0x03_31_03);
        assertThat(remote.command(EXIT_FAILURE_MODE, 0).status()).isEqualTo(Status.GOOD);
        for (RawInitiator each : List.of(erasing, remote, late)) {
            assertThat(each.command(READY, 0).status()).isEqualTo(Status.GOOD);
        }
    }

    /** Otherwise a server that starts would erase what was written after the erasure. */
    @Test
    void shouldEraseByTheServerThatHasStartedLastAlone() throws Exception {
        Server first = server(1);
        RawInitiator erasing = first.ready(1);
        first.device.shut(1);
        assertThat(erasing.command(ERASE_AT_ONCE, 0).status()).isEqualTo(Status.GOOD);
        first.device.awaitArrivals();

        long begun = versionOf("erasure", first.store);
        Server second = server(2);
        TargetFixture.await("the second server takes the erasure over",
                () -> versionOf("erasure", first.store) != begun);
        RawInitiator remote = RawInitiator.ready(second.server, 2);
        open.add(remote);
        awaitSense("the erasure goes on", remote, ERASING);
        assertThat(second.device.executedCount()).as("before the first has stopped").isZero();
        first.device.open();
        EraseCommandsTest.awaitReady(remote, ERASING);
        assertThat(second.device.executedCount()).isPositive();
        EraseCommandsTest.awaitReady(erasing, ERASING);
        assertThat(erasing.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 3)).status())
                .isEqualTo(Status.GOOD);
        server(2);
        assertThat(remote.read(0, 1)).isEqualTo(blocks(1, 3));
    }

    /** The next server that starts would erase what was written meanwhile. */
    @Test
    void shouldNotUseAMediumWhoseErasureMayHaveBegun() throws Exception {
        Server first = server(1);
        RawInitiator erasing = first.ready(1);
        RawInitiator neighbour = first.ready(2);
        RawInitiator remote = server(2).ready(3);
        states.loseAnswers(first.store);
        assertThat(erasing.commandOut(ERASE, new byte[0]).sense()).isEqualTo(0x04_44_00);
        assertThat(remote.command(READY, 0).sense()).isEqualTo(ERASING);
        assertThat(neighbour.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 5)).sense())
                .isEqualTo(ERASING);
        states.reach(first.store);
        for (RawInitiator each : List.of(erasing, neighbour, remote)) {
            awaitSense("the store has been read", each, 0x03_31_03);
        }
        assertThat(erasing.commandOut(ERASE, new byte[0]).status()).isEqualTo(Status.GOOD);
        assertThat(remote.command(READY, 0).status()).isEqualTo(Status.GOOD);
        assertThat(write(neighbour)).isEqualTo(Status.GOOD);
    }

    @Test
    void shouldUseAMediumAgainWhoseErasureWasNotSaved() throws Exception {
        Server first = server(1);
        RawInitiator erasing = first.ready(1);
        states.failing(true);
        assertThat(erasing.commandOut(ERASE, new byte[0]).sense()).isEqualTo(0x04_44_00);
        assertThat(write(erasing)).isEqualTo(Status.GOOD);
        states.failing(false);
        assertThat(erasing.commandOut(ERASE, new byte[0]).status()).isEqualTo(Status.GOOD);
    }

    /** The store then has the erasure already, but its command has not been told that it could not be saved. */
    @Test
    void shouldEraseThoughAnEarlierChangeIsNotifiedOnceMore() throws Exception {
        Server first = server(1);
        RawInitiator erasing = first.ready(1);
        RawInitiator remote = server(2).ready(2);
        first.device.shut(1);
        try (var held = states.holdAnswers()) {
            erasing.send(bytes(ERASE_AT_ONCE), 0);
            held.awaitSaved();
            states.notifyAgain(first.store, "erasure");
        }
        assertThat(erasing.receive().status()).isEqualTo(Status.GOOD);
        first.device.awaitArrivals();
        for (int i = 0; i < 50; i++) { // a failure would be saved soon
            assertThat(remote.command(READY, 0).sense()).isEqualTo(ERASING);
        }
        first.device.open();
        EraseCommandsTest.awaitReady(remote, ERASING);
        EraseCommandsTest.awaitReady(erasing, ERASING);
    }

    // --- what a unit of several servers does not offer ---

    @Test
    void shouldMakeNoTokensWhichWritesByOthersWouldNotEnd() throws Exception {
        RawInitiator initiator = server(1).ready(1);
        assertThat(initiator.command("8310 00000000 00000000 00000000 0000", 0).sense())
                .isEqualTo(0x05_24_00);
        byte[] page = initiator.command("1201 8f0400 00", 1024).data();
        assertThat(page.length).isPositive();
    }

    @Test
    void shouldNotBeRemovable() {
        StateStore store = states.join();
        assertThatThrownBy(() -> DiskSpec.of(memory).withState(store).withRemovable(true))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldSwitchTheWriteCacheOffAtAllServers() throws Exception {
        Server first = server(1);
        Server second = server(2);
        RawInitiator switching = first.ready(1);
        RawInitiator remote = second.ready(2);
        assertThat(write(remote)).isEqualTo(Status.GOOD);
        second.device.requests();
        assertThat(switching.commandOut("151000001800", // WCE 0, not saved
                bytes("00000000" + "0812" + "00".repeat(18))).status()).isEqualTo(Status.GOOD);
        assertThat(second.device.requests()).as("what the other server has cached")
                .anyMatch(each -> each.contains(Operation.FLUSH.toString()));
        assertThat(remote.command(READY, 0).sense()).isEqualTo(0x06_2a_01);
        assertThat(remote.takeAttentions()).isZero();
        assertThat(write(remote)).isEqualTo(Status.GOOD);
        assertThat(second.device.requests()).as("a write that is stable")
                .anyMatch(each -> each.contains("FUA"));
        assertThat(switching.takeAttentions()).isZero();
    }
}
