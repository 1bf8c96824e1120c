package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Random;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import org.junit.jupiter.api.Test;

/** Tests recovery of a lost connection: error recovery level 2 (RFC 7143 sections 6.3.4, 7.2.2, 7.12.3 and 11.14). */
class RecoveryLevelTwoTest {
    private static final int COMPLETE = TaskManagementResponseCode.FUNCTION_COMPLETE.code();
    private static final int NO_TASK = TaskManagementResponseCode.TASK_DOES_NOT_EXIST.code();
    private static final int STILL_ALLEGIANT = TaskManagementResponseCode.TASK_STILL_ALLEGIANT
            .code();
    private static final int NOT_SUPPORTED = TaskManagementResponseCode.REASSIGNMENT_NOT_SUPPORTED
            .code();
    private static final int CLOSE_SESSION = 0;
    private static final int CLOSE_CONNECTION = 1;
    private static final int RECOVER = 2;
    private static final int CID_NOT_FOUND = 1;
    private static final int RECOVERY_NOT_SUPPORTED = 2;
    private static final int SESSION_DOES_NOT_EXIST = 0x020a;
    private static final String[] SOLICITED = {"MaxConnections=2", "InitialR2T=Yes",
            "ImmediateData=No"};

    private static byte[] data(int blocks) {
        byte[] bytes = new byte[blocks * 512];
        new Random(blocks).nextBytes(bytes);
        return bytes;
    }

    private static void put(WirePeer peer, byte[] data) throws IOException {
        int blocks = data.length / 512;
        assertThat(peer.isGood(peer.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, blocks),
                data.length, data, true))).isTrue();
    }

    private static long writes(TargetFixture target) {
        return target.device.requests().stream().filter(each -> each.startsWith("WRITE")).count();
    }

    // --- a write, lost at each of its stations ---

    @Test
    void shouldRequestTheDataOfAReassignedWriteAgain() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, SOLICITED);
                var two = one.another(target.server, 1, 0)) {
            byte[] data = data(6);
            int write = one.write(0, 6);
            WirePeer.Pdu r2t = one.take(0x31, write);
            one.dataOut(write, r2t.ttt(), 0, data, 0, 1024, false);
            one.close();
            assertThat(two.logout(RECOVER, 0, one.expStatSn)).isZero();
            assertThat(two.reassign(write, 0)).isEqualTo(COMPLETE);
            WirePeer.Pdu again = two.take(0x31, write);
            assertThat(again.dataSn()).as("R2TSN").isEqualTo(1);
            two.answer(again, data);

            assertThat(two.isGood(write)).isTrue();
            assertThat(target.onDevice(0, 6)).isEqualTo(data);
        }
    }

    @Test
    void shouldAnswerAWriteThatWasExecutingWhereItWasReassigned() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "MaxConnections=2");
                var two = one.another(target.server, 1, 0)) {
            byte[] data = data(1);
            target.device.shut(1);
            int write = one.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 1), 512, data, true);
            target.device.awaitArrivals();
            one.close();
            assertThat(two.logout(RECOVER, 0, one.expStatSn)).isZero();
            assertThat(two.reassign(write, 0)).isEqualTo(COMPLETE);
            assertThat(two.isSilent()).isTrue();
            target.device.open();

            assertThat(two.isGood(write)).isTrue();
            assertThat(target.onDevice(0, 1)).isEqualTo(data);
            assertThat(writes(target)).as("writes to the device").isEqualTo(1);
        }
    }

    @Test
    void shouldKeepTheStatusOfAWriteThatEndedWithoutAConnection() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "MaxConnections=2");
                var two = one.another(target.server, 1, 0)) {
            target.device.shut(1);
            int write = one.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 1), 512, data(1),
                    true);
            target.device.awaitArrivals();
            one.close();
            assertThat(two.logout(RECOVER, 0, one.expStatSn)).isZero();
            target.device.open();
            assertThat(two.isSilent()).isTrue();
            assertThat(two.reassign(write, 0)).isEqualTo(COMPLETE);

            assertThat(two.isGood(write)).isTrue();
            assertThat(writes(target)).as("writes to the device").isEqualTo(1);
            assertThat(two.reassign(write, 0)).isEqualTo(NO_TASK);
        }
    }

    @Test
    void shouldSendAStatusThatWasLostWithItsConnection() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "MaxConnections=2");
                var two = one.another(target.server, 1, 0)) {
            int acknowledged = one.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 8, 1), 512,
                    data(1), true);
            assertThat(one.isGood(acknowledged)).isTrue();
            int write = one.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 1), 512, data(1),
                    true);
            one.lose(0x21, write);
            one.close();
            assertThat(two.logout(RECOVER, 0, one.expStatSn)).isZero();
            assertThat(two.reassign(acknowledged, 0)).isEqualTo(NO_TASK);
            assertThat(two.reassign(write, 0)).isEqualTo(COMPLETE);
            assertThat(two.isGood(write)).isTrue();
            assertThat(writes(target)).as("writes to the device").isEqualTo(2);
        }
    }

    /** The stream of a write is cut after each of its bytes in turn; whatever was lost, it ends well, and once. */
    @Test
    void shouldRecoverAWriteThatIsCutAnywhere() throws Exception {
        byte[] data = data(2);
        int length = 48 + 2 * (48 + 512 + 4);
        for (int cut = 0; cut <= length; cut += cut % 48 < 2 ? 1 : 23) {
            try (var target = new TargetFixture();
                    var one = WirePeer.loggedIn(target.server, 2, SOLICITED)) {
                int itt = one.newTag();
                int cmdSn = one.numbers.cmdSn++;
                byte[] command = one.bytes(one.commandHeader(itt, cmdSn, WirePeer.WRITE,
                        WirePeer.cdb10(0x2a, 0, 2), 1024, true), new byte[0], false);
                one.sendBytes(Arrays.copyOf(command, Math.min(cut, 48)));
                if (cut > 48) {
                    WirePeer.Pdu r2t = one.take(0x31, itt);
                    var stream = new ByteArrayOutputStream();
                    stream.writeBytes(one.bytes(one.dataOutHeader(itt, r2t.ttt(), 0, 0, false),
                            Arrays.copyOf(data, 512), false));
                    stream.writeBytes(one.bytes(one.dataOutHeader(itt, r2t.ttt(), 1, 512, true),
                            Arrays.copyOfRange(data, 512, 1024), false));
                    one.sendBytes(Arrays.copyOf(stream.toByteArray(), cut - 48));
                }
                if (cut == length) {
                    one.lose(0x21, itt);
                }
                one.close();
                try (var again = one.another(target.server, 0, one.expStatSn)) {
                    if (again.loginExpCmdSn == cmdSn) { // it never came (section 7.2.1)
                        again.command(itt, cmdSn, WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 2),
                                1024, new byte[0], true);
                    } else {
                        assertThat(again.reassign(itt, 0)).isEqualTo(COMPLETE);
                    }
                    WirePeer.Pdu next = again.take();
                    while (next.opcode() == 0x31) {
                        again.answer(next, data);
                        next = again.take();
                    }
                    assertThat(next.opcode()).as("after a cut at %d", cut).isEqualTo(0x21);
                    assertThat(next.status()).isZero();
                }
                assertThat(target.onDevice(0, 2)).as("after a cut at %d", cut).isEqualTo(data);
                assertThat(writes(target)).as("writes after a cut at %d", cut).isEqualTo(1);
            }
        }
    }

    // --- a read ---

    @Test
    void shouldContinueAReadAtExpDataSn() throws Exception { // section 11.5.6, ExpDataSN
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "MaxConnections=2",
                        "MaxRecvDataSegmentLength=512");
                var two = one.another(target.server, 1, 0, "MaxRecvDataSegmentLength=1024")) {
            byte[] data = data(6);
            put(one, data);
            int read = one.read(0, 6);
            for (int i = 0; i < 6; i++) {
                one.lose(0x25, read);
            }
            one.lose(0x21, read);
            one.close();
            assertThat(two.logout(RECOVER, 0, one.expStatSn)).isZero();
            assertThat(two.reassign(read, 3)).isEqualTo(COMPLETE);
            WirePeer.Pdu first = two.take(0x25, read);
            assertThat(first.dataSn()).isEqualTo(3);
            assertThat(first.offset()).isEqualTo(1536);
            assertThat(first.data()).as("in pieces that this connection takes")
                    .isEqualTo(Arrays.copyOfRange(data, 1536, 2560));
            WirePeer.Pdu last = two.lose(0x25, read);
            assertThat(last.dataSn()).isEqualTo(4);
            assertThat(last.flags() & WirePeer.FINAL).isNotZero();
            WirePeer.Pdu status = two.lose(0x21, read);
            assertThat(status.dataSn()).as("ExpDataSN").isEqualTo(5);

            two.snack(0, read, WirePeer.NONE, 4, 1);
            WirePeer.Pdu again = two.take(0x25, read);
            assertThat(again.offset()).isEqualTo(2560);
            assertThat(again.data()).isEqualTo(Arrays.copyOfRange(data, 2560, 3072));
        }
    }

    @Test
    void shouldSendAllDataOfAReadWithoutReceivedData() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "MaxRecvDataSegmentLength=512")) {
            byte[] data = data(3);
            put(one, data);
            int read = one.read(0, 3);
            one.lose(0x25, read);
            one.close();
            try (var again = one.another(target.server, 0, one.expStatSn,
                    "MaxRecvDataSegmentLength=512")) {
                assertThat(again.reassign(read, 0)).isEqualTo(COMPLETE);
                for (int i = 0; i < 3; i++) {
                    WirePeer.Pdu piece = again.take(0x25, read);
                    assertThat(piece.dataSn()).isEqualTo(i);
                    assertThat(piece.data())
                            .isEqualTo(Arrays.copyOfRange(data, i * 512, i * 512 + 512));
                }
                assertThat(again.isGood(read)).isTrue();
            }
        }
    }

    @Test
    void shouldSendTheStatusAloneWhenAllDataAreAcknowledged() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "MaxRecvDataSegmentLength=512")) {
            put(one, data(2));
            int read = one.read(0, 2);
            one.lose(0x25, read);
            one.lose(0x25, read);
            one.lose(0x21, read);
            try (var again = one.another(target.server, 0, one.expStatSn)) { // while the old one is open
                assertThat(one.isClosedByTarget()).isTrue();
                assertThat(again.reassign(read, 2)).isEqualTo(COMPLETE);
                assertThat(again.isGood(read)).isTrue();
            }
        }
    }

    @Test
    void shouldNotReassignAReadWhoseDataItDoesNotKeepAnyMore() throws Exception {
        String[] keys = {"MaxConnections=2", "MaxRecvDataSegmentLength=262144",
                "MaxBurstLength=1048576"};
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, keys);
                var two = one.another(target.server, 1, 0, keys)) {
            int write = one.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 1), 512, data(1),
                    true);
            one.lose(0x21, write);
            var reads = new ArrayList<Integer>();
            for (int i = 0; i < 12; i++) {
                int read = one.read(0, 2048); // 1 MiB
                for (int part = 0; part < 4; part++) {
                    one.lose(0x25, read);
                }
                one.lose(0x21, read);
                reads.add(read);
            }
            one.close();
            assertThat(two.logout(RECOVER, 0, one.expStatSn)).isZero();
            assertThat(two.reassign(reads.getFirst(), 0)).isEqualTo(NO_TASK);
            assertThat(two.reassign(reads.getLast(), 3)).isEqualTo(COMPLETE);
            assertThat(two.take(0x25, reads.getLast()).dataSn()).isEqualTo(3);
            assertThat(two.isGood(reads.getLast())).isTrue();
            assertThat(two.reassign(write, 0)).isEqualTo(COMPLETE);
            assertThat(two.isGood(write)).isTrue();
        }
    }

    // --- what else may be asked ---

    @Test
    void shouldReassignOnlyWhatHasBeenLoggedOutForRecovery() throws Exception { // section 7.2.2
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "MaxConnections=3");
                var two = one.another(target.server, 1, 0)) {
            target.device.shut(1);
            int write = one.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 1), 512, data(1),
                    true);
            target.device.awaitArrivals();
            assertThat(two.reassign(write, 0)).isEqualTo(STILL_ALLEGIANT);
            assertThat(two.reassign(0x7777, 0)).isEqualTo(NO_TASK);
            assertThat(two.logout(RECOVER, 7, 0)).isEqualTo(CID_NOT_FOUND);
            assertThat(two.logout(RECOVER, 0, one.expStatSn)).isZero(); // the target had not missed it yet
            assertThat(one.isClosedByTarget()).isTrue();
            assertThat(two.logout(RECOVER, 0, one.expStatSn)).isEqualTo(CID_NOT_FOUND);
            assertThat(two.reassign(write, 0)).isEqualTo(COMPLETE);
            assertThat(two.reassign(write, 0)).isEqualTo(STILL_ALLEGIANT);
            target.device.open();
            assertThat(two.isGood(write)).isTrue();
        }
    }

    @Test
    void shouldRecoverAConnectionThatLogsItselfOut() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "MaxConnections=2");
                var two = one.another(target.server, 1, 0)) {
            target.device.shut(1);
            int write = one.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 1), 512, data(1),
                    true);
            target.device.awaitArrivals();
            assertThat(one.logout(RECOVER, 0, one.expStatSn)).isZero();
            assertThat(one.isClosedByTarget()).isTrue();
            assertThat(two.reassign(write, 0)).isEqualTo(COMPLETE);
            target.device.open();
            assertThat(two.isGood(write)).isTrue();
        }
    }

    @Test
    void shouldRejectRecoveryBelowLevelTwo() throws Exception {
        try (var target = new TargetFixture(); var peer = WirePeer.loggedIn(target.server, 1)) {
            assertThat(peer.reassign(0x7777, 0)).isEqualTo(NOT_SUPPORTED);
            assertThat(peer.logout(RECOVER, 0, 0)).isEqualTo(RECOVERY_NOT_SUPPORTED);
            assertThat(peer.isSilent()).isTrue();
        }
    }

    @Test
    void shouldAbortTheTasksOfALostConnection() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, SOLICITED);
                var two = one.another(target.server, 1, 0)) {
            int write = one.write(0, 2);
            one.take(0x31, write);
            one.close();
            assertThat(two.abort(write)).isEqualTo(COMPLETE);
            assertThat(two.logout(RECOVER, 0, one.expStatSn)).isZero();
            assertThat(two.reassign(write, 0)).isEqualTo(NO_TASK);
            assertThat(target.server.bufferBytesInUse()).isZero();
        }
    }

    @Test
    void shouldEndTasksLeftByAFinalLogout() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, SOLICITED);
                var two = one.another(target.server, 1, 0)) {
            int write = one.write(0, 2);
            one.take(0x31, write);
            one.close();
            TargetFixture.await("the end of the connection is noticed",
                    () -> target.server.connectionCount() == 1);
            assertThat(two.logout(CLOSE_CONNECTION, 0, one.expStatSn)).isZero();
            assertThat(two.reassign(write, 0)).isEqualTo(NO_TASK);
            int other = two.write(0, 2);
            two.take(0x31, other);
            assertThat(two.logout(CLOSE_SESSION, 0, two.expStatSn)).isZero();
            TargetFixture.await("the session ends", () -> target.server.sessionCount() == 0);
        }
    }

    // --- the life of the session ---

    @Test
    void shouldKeepASessionWithoutAConnectionForAWhileOnly() throws Exception { // sections 6.3.6, 8.3
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "DefaultTime2Wait=0",
                        "DefaultTime2Retain=1", "InitialR2T=Yes", "ImmediateData=No")) {
            int write = one.write(0, 2);
            one.take(0x31, write);
            one.close();
            TargetFixture.await("its time is over", () -> target.server.sessionCount() == 0);
            assertThat(target.server.bufferBytesInUse()).isZero();
            try (var late = new WirePeer(target.server, 0)) {
                late.numbers.tsih = one.numbers.tsih;
                assertThat(late.login(2, 0)).isEqualTo(SESSION_DOES_NOT_EXIST);
            }
        }
    }

    @Test
    void shouldKeepNothingWhereTheTimeIsZero() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "DefaultTime2Retain=0")) {
            one.close();
            TargetFixture.await("the session ends", () -> target.server.sessionCount() == 0);
        }
    }

    @Test
    void shouldDropTasksNotReassignedInTime() throws Exception {
        TargetFixture.withTimeout(1, 15, RecoveryLevelTwoTest::reassignTooLate);
    }

    private static void reassignTooLate(long retainSeconds) throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "MaxConnections=2",
                        "DefaultTime2Wait=0", "DefaultTime2Retain=" + retainSeconds,
                        "InitialR2T=Yes", "ImmediateData=No");
                var two = one.another(target.server, 1, 0)) {
            int write = one.write(0, 2);
            one.take(0x31, write);
            one.close();
            assertThat(two.logout(RECOVER, 0, one.expStatSn)).isZero();
            TargetFixture.await("its time is over",
                    () -> target.server.bufferBytesInUse() == 0);
            assertThat(two.reassign(write, 0)).isEqualTo(NO_TASK);
        }
    }

    @Test
    void shouldContinueASessionByAConnectionOfAnotherNumber() throws Exception { // section 6.3.6
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "InitialR2T=Yes",
                        "ImmediateData=No")) {
            byte[] data = data(2);
            int write = one.write(0, 2);
            one.take(0x31, write);
            one.close();
            TargetFixture.await("the end of the connection is noticed",
                    () -> target.server.connectionCount() == 0);
            assertThat(target.server.sessionCount()).isEqualTo(1);
            try (var other = one.another(target.server, 9, 0)) {
                assertThat(other.logout(RECOVER, 0, one.expStatSn)).isZero();
                assertThat(other.reassign(write, 0)).isEqualTo(COMPLETE);
                other.answer(other.take(0x31, write), data);
                assertThat(other.isGood(write)).isTrue();
            }
            assertThat(target.onDevice(0, 2)).isEqualTo(data);
        }
    }

    @Test
    void shouldEndAKeptSessionWhenItsInitiatorLogsInAnew() throws Exception { // section 6.3.5
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "InitialR2T=Yes",
                        "ImmediateData=No")) {
            int write = one.write(0, 2);
            one.take(0x31, write);
            one.close();
            TargetFixture.await("the end of the connection is noticed",
                    () -> target.server.connectionCount() == 0);
            try (var fresh = WirePeer.loggedIn(target.server, 2)) {
                assertThat(target.server.sessionCount()).isEqualTo(1);
                assertThat(fresh.reassign(write, 0)).isEqualTo(NO_TASK);
                assertThat(target.server.bufferBytesInUse()).isZero();
            }
        }
    }

    @Test
    void shouldLoseAConnectionTwice() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 2, "InitialR2T=Yes",
                        "ImmediateData=No")) {
            byte[] data = data(2);
            int first = one.write(0, 2);
            one.take(0x31, first);
            one.close();
            int second;
            try (var two = one.another(target.server, 0, one.expStatSn)) {
                second = two.write(8, 2);
                two.take(0x31, second);
                try (var three = two.another(target.server, 0, two.expStatSn)) {
                    for (int task : new int[]{first, second}) {
                        assertThat(three.reassign(task, 0)).isEqualTo(COMPLETE);
                        three.answer(three.take(0x31, task), data);
                        assertThat(three.isGood(task)).isTrue();
                    }
                }
            }
            assertThat(target.onDevice(0, 2)).isEqualTo(data);
            assertThat(target.onDevice(8, 2)).isEqualTo(data);
        }
    }
}
