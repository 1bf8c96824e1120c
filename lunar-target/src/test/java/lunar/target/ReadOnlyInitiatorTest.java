package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.scsi.Status;
import lunar.scsi.command.CommandDescriptor;
import lunar.scsi.command.CommandTable;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.block.DiskSpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that an initiator with read-only access cannot interfere with those that write. */
class ReadOnlyInitiatorTest {
    private static final String READER = "iqn.2026-11.org.host:reader";
    private static final String WRITER = "iqn.2026-11.org.host:writer";
    private static final int WRITE_PROTECTED = 0x07_27_00;
    private static final int ACCESS_DENIED = 0x05_20_02;
    private static final int INVALID_FIELD_IN_LIST = 0x05_26_00;
    private static final long WRITERS_KEY = 0xaaaa;
    private static final long READERS_KEY = 0xbbbb;
    private static final int WRITE_EXCLUSIVE = 1;

    /** Beginnings of the names of all commands that a reader may have executed; the rest is refused. */
    private static final List<String> ALLOWED = List.of("TEST UNIT READY", "REQUEST SENSE",
            "READ", "INQUIRY", "MODE SENSE", "RECEIVE DIAGNOSTIC RESULTS", "VERIFY", "PRE-FETCH",
            "SYNCHRONIZE CACHE", "LOG SENSE", "RELEASE", "PERSISTENT RESERVE IN",
            "PERSISTENT RESERVE OUT, REGISTER", "GET LBA STATUS", "REPORT", "EXTENDED COPY",
            "POPULATE TOKEN", "RECEIVE", "COPY OPERATION ABORT");
    private static final String NOT_EVEN = "PERSISTENT RESERVE OUT, REGISTER AND MOVE";

    /** Prefixes of commands that change data; other rejected commands change the unit. */
    private static final List<String> WRITES = List.of("WRITE(", "WRITE AND VERIFY", "WRITE ATOMIC",
            "WRITE SAME", "WRITE USING TOKEN", "COMPARE AND WRITE", "ORWRITE", "UNMAP", "FORMAT",
            "SANITIZE");

    private static final int NO_ROOM = 0x05_55_04;

    @TempDir
    Path directory;
    private GatedDevice device;
    private TargetServer server;
    private RawInitiator reader;
    private RawInitiator writer;

    @BeforeEach
    void start() throws IOException {
        device = new GatedDevice("ram:1MiB");
        server = TargetFixture.builder().portal("127.0.0.1", 0).loops(2)
                .target(TargetSpec.of(RawInitiator.TARGET)
                        .withLun(0, DiskSpec.of(device)
                                .withState(StateStore.inDirectory(directory)))
                        .withInitiator(InitiatorSpec.of(READER).withReadOnly(true))
                        .withInitiator(InitiatorSpec.of(WRITER)))
                .start();
        reader = ready(READER);
        writer = ready(WRITER);
    }

    private RawInitiator ready(String name) throws IOException {
        var raw = new RawInitiator(server);
        assertThat(raw.loginAs(name, RawInitiator.TARGET).status()).isZero();
        raw.takeAttentions();
        return raw;
    }

    @AfterEach
    void close() throws IOException {
        device.open();
        reader.close();
        writer.close();
        server.close();
        device.close();
    }

    @Test
    void shouldRejectEveryCommandThatIsNotKnownToBeHarmless() throws Exception {
        List<String> refused = new ArrayList<>();
        for (CommandDescriptor command : commands(_ -> true)) {
            String name = command.name();
            RawInitiator.Received answer = reader.command(cdb(command), 0);
            boolean allowed = ALLOWED.stream().anyMatch(name::startsWith) && !name.equals(NOT_EVEN);
            if (!isSupported(command)) {
                assertThat(answer.status()).as(name).isNotEqualTo(Status.GOOD);
            } else if (allowed) {
                assertThat(answer.sense()).as(name).isNotIn(WRITE_PROTECTED, ACCESS_DENIED);
            } else {
                assertThat(answer.sense()).as(name)
                        .isEqualTo(WRITES.stream().anyMatch(name::startsWith)
                                ? WRITE_PROTECTED
                                : ACCESS_DENIED);
                refused.add(name);
            }
        }
        assertThat(refused).contains("SET TARGET PORT GROUPS", "START STOP UNIT", "RESERVE(6)",
                "PERSISTENT RESERVE OUT, PREEMPT", "PERSISTENT RESERVE OUT, CLEAR",
                "PERSISTENT RESERVE OUT, RESERVE", "MODE SELECT(10)", "LOG SELECT", "FORMAT UNIT",
                "PREVENT ALLOW MEDIUM REMOVAL", "SEND DIAGNOSTIC", "WRITE BUFFER", "UNMAP",
                "WRITE(16)");
        writer.write(0, TargetFixture.blocks(1, 5));
        assertThat(writer.receive().status()).isEqualTo(Status.GOOD);
    }

    private static List<CommandDescriptor> commands(Predicate<CommandDescriptor> wanted) {
        return CommandTable.standard(wanted).commands();
    }

    /** Zeroes but for what says which command it is; PREVENT is one, for to allow is harmless. */
    private static byte[] cdb(CommandDescriptor command) {
        byte[] cdb = new byte[command.cdbLength()];
        cdb[0] = (byte) command.opcode();
        command.serviceAction().ifPresent(action -> cdb[1] = (byte) action);
        if (command.name().startsWith("PREVENT")) {
            cdb[4] = 1;
        }
        return cdb;
    }

    /** By REPORT SUPPORTED OPERATION CODES, of this one. */
    private boolean isSupported(CommandDescriptor command) throws IOException {
        byte[] cdb = new byte[12];
        cdb[0] = (byte) 0xa3;
        cdb[1] = 0x0c;
        cdb[2] = (byte) (command.serviceAction().isPresent() ? 2 : 1);
        cdb[3] = (byte) command.opcode();
        cdb[5] = (byte) command.serviceAction().orElse(0);
        cdb[9] = 64;
        return (writer.command(cdb, 64).data()[1] & 7) == 3;
    }

    @Test
    void shouldNotPermitReadersToReserve() throws Exception {
        assertThat(reserveOut(writer, 0, 0, 0, WRITERS_KEY, 0)).isZero();
        assertThat(reserveOut(writer, 1, WRITE_EXCLUSIVE, WRITERS_KEY, 0, 0)).isZero();
        assertThat(reserveOut(reader, 0, 0, 0, READERS_KEY, 0)).isZero();
        for (int action : new int[]{1, 2, 3, 4, 5, 7}) {
            assertThat(reserveOut(reader, action, WRITE_EXCLUSIVE, READERS_KEY, WRITERS_KEY, 0))
                    .as("service action %d", action).isEqualTo(ACCESS_DENIED);
        }
        byte[] held = writer.command(RawInitiator.bytes("5e010000000000002000"), 32).data();
        assertThat(ByteBuffer.wrap(held).getLong(8)).isEqualTo(WRITERS_KEY);
        writer.write(0, TargetFixture.blocks(1, 5));
        assertThat(writer.receive().status()).isEqualTo(Status.GOOD);
        assertThat(reader.read(0, 1)).containsOnly(5);
        assertThat(reserveOut(reader, 0, 0, READERS_KEY, 0, 0)).as("it unregisters").isZero();
    }

    @Test
    void shouldKeepReservationsThroughPowerLossAsWritersWantThem() throws Exception {
        int persistent = 1;
        assertThat(reserveOut(writer, 0, 0, 0, WRITERS_KEY, persistent)).isZero();
        assertThat(reserveOut(reader, 0, 0, 0, READERS_KEY, 0)).isZero();
        byte[] capabilities = reader.command(RawInitiator.bytes("5e020000000000000800"), 8).data();
        assertThat(capabilities[3] & 1).as("PTPL_A").isOne();
        int forOthersToo = 8;
        assertThat(reserveOut(reader, 6, 0, 0, READERS_KEY, forOthersToo))
                .isEqualTo(INVALID_FIELD_IN_LIST);
    }

    @Test
    void shouldLeaveRoomForTheRegistrationsOfWriters() throws Exception {
        int most = 16;
        for (int isid = 2; isid <= most + 2; isid++) {
            try (var raw = new RawInitiator(server)) {
                assertThat(raw.loginWith(RawInitiator.isid(isid), "InitiatorName=" + READER,
                        "TargetName=" + RawInitiator.TARGET, "SessionType=Normal").status())
                        .isZero();
                raw.takeAttentions();
                assertThat(reserveOut(raw, 0, 0, 0, READERS_KEY, 0)).as("ISID " + isid)
                        .isEqualTo(isid <= most + 1 ? 0 : NO_ROOM);
            }
        }
        assertThat(reserveOut(writer, 0, 0, 0, WRITERS_KEY, 0)).isZero();
    }

    /** PERSISTENT RESERVE OUT; returns the sense, 0 for GOOD. */
    private static int reserveOut(RawInitiator sender, int action, int type, long key, long other,
            int flags) throws IOException {
        boolean specifies = (flags & 8) != 0;
        byte[] list = ByteBuffer.allocate(specifies ? 28 : 24).putLong(key).putLong(other)
                .put(20, (byte) flags).array();
        byte[] cdb = {0x5f, (byte) action, (byte) type, 0, 0, 0, 0, 0, (byte) list.length, 0};
        RawInitiator.Received answer = sender.commandOut(cdb, list);
        assertThat(answer.status()).isIn(Status.GOOD, Status.CHECK_CONDITION);
        return answer.sense();
    }

    @Test
    void shouldNotPermitReadersToResetUnitsOfOthers() throws Exception {
        device.shut(1);
        writer.write(0, TargetFixture.blocks(1, 5));
        device.awaitArrivals();
        for (TaskManagementFunction function : List.of(TaskManagementFunction.LOGICAL_UNIT_RESET,
                TaskManagementFunction.TARGET_WARM_RESET,
                TaskManagementFunction.TARGET_COLD_RESET)) {
            assertThat(reader.managed(reader.manage(function, -1))).as(function.text())
                    .isEqualTo(TaskManagementResponseCode.AUTHORIZATION_FAILED.code());
        }
        for (TaskManagementFunction function : List.of(TaskManagementFunction.ABORT_TASK_SET,
                TaskManagementFunction.CLEAR_TASK_SET)) { // of its own nexus, as task sets are
            assertThat(reader.managed(reader.manage(function, -1))).as(function.text())
                    .isEqualTo(TaskManagementResponseCode.FUNCTION_COMPLETE.code());
        }
        device.open();
        assertThat(writer.receive().status()).isEqualTo(Status.GOOD);
        assertThat(reader.read(0, 1)).containsOnly(5);
    }

    @Test
    void shouldPermitReadersToAllowRemovalAndWritersEverything() throws Exception {
        assertThat(reader.command(RawInitiator.bytes("1e0000000000"), 0).status())
                .isEqualTo(Status.GOOD);
        assertThat(writer.command(RawInitiator.bytes("1e0000000100"), 0).status())
                .isEqualTo(Status.GOOD);
        assertThat(writer.managed(
                writer.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, -1)))
                .isEqualTo(TaskManagementResponseCode.FUNCTION_COMPLETE.code());
    }
}
