package lunar.target;

import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import lunar.block.BlockRequest;
import lunar.iscsi.pdu.LogoutReason;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;

/** Tests sessions with several connections (RFC 7143 sections 4.2.2.1, 4.2.5.1 and 6.3.4). */
class SeveralConnectionsTest {
    private static final int TOO_MANY_CONNECTIONS = 0x0206;
    private static final int SESSION_DOES_NOT_EXIST = 0x020a;

    private static RawInitiator joined(TargetFixture target, RawInitiator leader, int cid)
            throws Exception {
        RawInitiator more = leader.another(target.server, RawInitiator.isid(1), cid);
        assertThat(more.loginAnswer().status()).isZero();
        return more;
    }

    @Test
    void shouldExecuteCommandsInTheOrderOfTheirNumbersOverConnections() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2");
                var two = joined(target, one, 1)) {
            int first = one.useCmdSn();
            int second = one.useCmdSn();
            int write = two.write(one.newTag(), second, RawInitiator.writeCdb(0, 1),
                    blocks(1, 0xbb), 512, true);
            two.assertSilent(); // held: one before it is missing
            assertThat(target.onDevice(0, 1)).containsOnly(0);
            one.write(one.newTag(), first, RawInitiator.writeCdb(0, 1), blocks(1, 0xaa), 512, true);

            assertThat(one.receive().status()).isEqualTo(Status.GOOD);
            RawInitiator.Received answer = two.receive();
            assertThat(answer.status()).as("on the connection it came on").isEqualTo(Status.GOOD);
            assertThat(answer.bhs().itt()).isEqualTo(write);
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 0xbb));
        }
    }

    @Test
    void shouldNotExecuteAWriteWhoseTurnComesAmidItsData() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2");
                var two = joined(target, one, 1)) {
            int first = one.useCmdSn();
            byte[] write = RawInitiator.encode(new ScsiCommand(false, true, false, true,
                    TaskAttribute.SIMPLE, 0, Lun.ZERO, one.newTag(), 1024, one.useCmdSn(),
                    two.expStatSn(), MemorySegment.ofArray(RawInitiator.writeCdb(8, 2)), 0),
                    blocks(2, 0xcc));
            two.sendBytes(Arrays.copyOf(write, write.length - 700)); // the headers and some data
            assertThat(two.isQuiet()).isTrue();
            one.write(one.newTag(), first, RawInitiator.writeCdb(0, 1), blocks(1, 1), 512, true);
            assertThat(one.receive().status()).isEqualTo(Status.GOOD);
            assertThat(two.isQuiet()).isTrue();
            two.sendBytes(Arrays.copyOfRange(write, write.length - 700, write.length));
            assertThat(two.receive().status()).isEqualTo(Status.GOOD);
            assertThat(target.onDevice(8, 2)).isEqualTo(blocks(2, 0xcc));
        }
    }

    @Test
    void shouldKeepARequestWithoutATaskUntilItsTurn() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2");
                var two = joined(target, one, 1)) {
            int first = one.useCmdSn();
            int ping = one.newTag();
            two.send(new NopOut(false, Lun.ZERO, ping, -1, one.useCmdSn(), two.expStatSn()),
                    "later".getBytes(StandardCharsets.US_ASCII));
            two.assertSilent();
            one.write(one.newTag(), first, RawInitiator.writeCdb(0, 1), blocks(1, 1), 512, true);

            assertThat(one.receive().status()).isEqualTo(Status.GOOD);
            RawInitiator.Received pong = two.receive();
            assertThat(pong.opcode()).isEqualTo(NopIn.OPCODE);
            assertThat(pong.bhs().itt()).isEqualTo(ping);
            assertThat(pong.text()).isEqualTo("later");
        }
    }

    @Test
    void shouldRequestDataAndAnswerOnTheConnectionOfTheCommand() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2", "InitialR2T=Yes",
                        "ImmediateData=No");
                var two = joined(target, one, 1)) {
            int write = two.write(one.newTag(), one.useCmdSn(), RawInitiator.writeCdb(0, 1),
                    new byte[0], 512, true);
            RawInitiator.Received r2t = two.receive();
            assertThat(r2t.opcode()).isEqualTo(R2t.OPCODE);
            one.dataOut(write, r2t.bhs().ttt(), 0, 0, true, blocks(1, 9)); // not its connection
            one.assertSilent();
            two.dataOut(write, r2t.bhs().ttt(), 0, 0, true, blocks(1, 7));
            assertThat(two.receive().status()).isEqualTo(Status.GOOD);
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 7));
        }
    }

    @Test
    void shouldContinueWhenOneConnectionIsLost() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=3");
                var three = joined(target, one, 2)) {
            var two = joined(target, one, 1);
            target.device.shut(1);
            two.write(one.newTag(), one.useCmdSn(), RawInitiator.writeCdb(0, 1), blocks(1, 1), 512,
                    true);
            target.device.awaitArrivals();
            two.close();
            target.device.open();
            one.send(new byte[6], 0);
            assertThat(one.receive().status()).isEqualTo(Status.GOOD);
            three.write(one.newTag(), one.useCmdSn(), RawInitiator.writeCdb(8, 1), blocks(1, 3),
                    512, true);
            assertThat(three.receive().status()).isEqualTo(Status.GOOD);
            assertThat(target.server.sessionCount()).isEqualTo(1);
        }
    }

    /** The initiator sends them again after the answer (RFC 7143 sections 7.2.1 and 11.14). */
    @Test
    void shouldAnswerALogoutOfALostConnectionAfterItsCommandsHaveEnded() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2", "ErrorRecoveryLevel=0")) {
            hangOnAConnection(target, one).close();
            TargetFixture.await("its end", () -> target.server.connectionCount() == 1);
            one.send(new LogoutRequest(true, LogoutReason.CLOSE_CONNECTION, one.newTag(), 1,
                    one.cmdSn(), one.expStatSn()), new byte[0]);
            one.assertSilent();
            target.device.open();
            assertThat(one.receive().bhs().int8(LogoutResponse.RESPONSE)).as("CID not found")
                    .isEqualTo(1);
            assertThat(target.onDevice(8, 1)).isEqualTo(blocks(1, 0xaa));
        }
    }

    @Test
    void shouldReinstateAConnectionAfterItsCommandsHaveEnded() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2", "ErrorRecoveryLevel=0");
                var old = hangOnAConnection(target, one);
                var again = one.another(target.server, RawInitiator.isid(1), 1)) {
            assertThat(old.isClosedByTarget()).isTrue();
            assertThat(again.isQuiet()).isTrue();
            target.device.open();
            assertThat(again.loginAnswer().status()).isZero();
            assertThat(target.onDevice(8, 1)).isEqualTo(blocks(1, 0xaa));
        }
    }

    @Test
    void shouldEndTheFirstOfTwoConnectionsWaitingForOneCid() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2", "ErrorRecoveryLevel=0");
                var _ = hangOnAConnection(target, one);
                var again = one.another(target.server, RawInitiator.isid(1), 1);
                var later = one.another(target.server, RawInitiator.isid(1), 1)) {
            assertThat(again.isQuiet()).isTrue();
            assertThat(later.isQuiet()).isTrue();
            target.device.open();
            TargetFixture.await("one connection of each number",
                    () -> target.server.connectionCount() == 2);
            one.assertSilent();
        }
    }

    @Test
    void shouldLetNoWaitingConnectionJoinASessionThatWasReplaced() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2", "ErrorRecoveryLevel=0");
                var two = hangOnAConnection(target, one);
                var fresh = new RawInitiator(target.server)) {
            one.write(one.newTag(), one.useCmdSn(), RawInitiator.writeCdb(16, 1), blocks(1, 1), 512,
                    true);
            TargetFixture.await("both writes at the device",
                    () -> target.device.waitingCount() == 2);
            try (var again = one.another(target.server, RawInitiator.isid(1), 1)) {
                assertThat(two.isClosedByTarget()).isTrue();
                fresh.sendLogin(RawInitiator.isid(1));
                assertThat(one.isClosedByTarget()).isTrue();
                target.device.open();
                assertThat(again.loginAnswer().status()).isEqualTo(SESSION_DOES_NOT_EXIST);
            }
            assertThat(fresh.loginAnswer().status()).isZero();
        }
    }

    /** A connection more, with a write that the device does not end. */
    private static RawInitiator hangOnAConnection(TargetFixture target, RawInitiator one)
            throws Exception {
        RawInitiator two = joined(target, one, 1);
        target.device.shut(1, request -> request.operation() == BlockRequest.Operation.WRITE);
        two.write(one.newTag(), one.useCmdSn(), RawInitiator.writeCdb(8, 1), blocks(1, 0xaa), 512,
                true);
        target.device.awaitArrivals();
        return two;
    }

    @Test
    void shouldAcceptNoMoreConnectionsThanNegotiated() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2");
                var _ = joined(target, one, 1);
                var third = one.another(target.server, RawInitiator.isid(1), 2)) {
            assertThat(third.loginAnswer().status()).isEqualTo(TOO_MANY_CONNECTIONS);
            one.assertSilent();
        }
    }

    @Test
    void shouldRejectJoiningWithAnotherIsid() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2");
                var other = one.another(target.server, RawInitiator.isid(2), 1)) {
            assertThat(other.loginAnswer().status()).isEqualTo(SESSION_DOES_NOT_EXIST);
            one.assertSilent();
        }
    }

    @Test
    void shouldReplaceAConnectionByANewLoginOfItsNumber() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2");
                var old = joined(target, one, 1);
                var fresh = joined(target, one, 1)) {
            assertThat(old.isClosedByTarget()).isTrue();
            fresh.write(one.newTag(), one.useCmdSn(), RawInitiator.writeCdb(0, 1), blocks(1, 5),
                    512, true);
            assertThat(fresh.receive().status()).isEqualTo(Status.GOOD);
            one.assertSilent();
        }
    }

    @Test
    void shouldCloseOneConnectionByALogoutOnAnother() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2");
                var two = joined(target, one, 1)) {
            one.send(new LogoutRequest(true, LogoutReason.CLOSE_CONNECTION, one.newTag(), 1,
                    one.cmdSn(), one.expStatSn()), new byte[0]);
            RawInitiator.Received answer = one.receive();
            assertThat(answer.opcode()).isEqualTo(LogoutResponse.OPCODE);
            assertThat(answer.bhs().int8(LogoutResponse.RESPONSE)).isZero();
            assertThat(two.isClosedByTarget()).isTrue();
            one.assertSilent();
            one.send(new LogoutRequest(true, LogoutReason.CLOSE_CONNECTION, one.newTag(), 1,
                    one.cmdSn(), one.expStatSn()), new byte[0]);
            assertThat(one.receive().bhs().int8(LogoutResponse.RESPONSE)).as("CID not found")
                    .isEqualTo(1);
        }
    }

    @Test
    void shouldEndTheSessionWithAllItsConnections() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2");
                var two = joined(target, one, 1)) {
            one.logout();
            assertThat(one.receive().opcode()).isEqualTo(LogoutResponse.OPCODE);
            assertThat(two.isClosedByTarget()).isTrue();
            TargetFixture.await("the end of the session",
                    () -> target.server.sessionCount() == 0);
        }
    }

    @Test
    void shouldHoldAllCommandsWithinTheWindow() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2");
                var two = joined(target, one, 1)) {
            int first = one.useCmdSn();
            for (int i = 0; i < 100; i++) {
                two.send(new NopOut(false, Lun.ZERO, one.newTag(), -1, one.useCmdSn(),
                        two.expStatSn()), new byte[8192]);
            }
            two.assertSilent();
            one.write(one.newTag(), first, RawInitiator.writeCdb(0, 1), blocks(1, 1), 512, true);
            assertThat(one.receive().opcode()).isEqualTo(ScsiResponse.OPCODE);
            for (int i = 0; i < 100; i++) {
                assertThat(two.receive().opcode()).isEqualTo(NopIn.OPCODE);
            }
            two.assertSilent();
        }
    }

    @Test
    void shouldBoundTheDataItHolds() throws Exception {
        int bytes = 200_000;
        try (var target = new TargetFixture();
                var one = target.ready(1, "MaxConnections=2");
                var two = joined(target, one, 1)) {
            int first = one.useCmdSn();
            for (int i = 0; i < 20; i++) {
                two.send(new NopOut(false, Lun.ZERO, one.newTag(), -1, one.useCmdSn(),
                        two.expStatSn()), new byte[bytes]);
            }
            two.assertSilent();
            one.write(one.newTag(), first, RawInitiator.writeCdb(0, 1), blocks(1, 1), 512, true);
            assertThat(one.receive().opcode()).isEqualTo(ScsiResponse.OPCODE);
            for (int i = 0; i < 20; i++) {
                assertThat(two.receive().opcode())
                        .isEqualTo(i < (1 << 20) / bytes ? NopIn.OPCODE : Reject.OPCODE);
            }
            two.assertSilent();
            assertThat(one.command(new byte[6], 0).status()).as("the window goes on")
                    .isEqualTo(Status.GOOD);
        }
    }
}
