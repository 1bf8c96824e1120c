package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import lunar.block.AbortedException;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.iscsi.DigestException;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.RejectReason;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.WriteBlocks;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that each way in which a session fails ends every call with its type of exception, and that no call hangs. */
@Timeout(120)
class SessionFailureTest {
    /** What a silent target is given; nothing that is to be answered is under this timeout. */
    private static final int LATE_MS = 1_500;

    private static final int BLOCKS = 64;
    private static final int BYTES = BLOCKS * ScriptedDisk.BLOCK_SIZE;

    /** Misbehavior of the target for a read or write. */
    @FunctionalInterface
    interface Misdeed {
        void commit(ScriptedPeer peer, ScsiCommand command) throws Exception;
    }

    private static DataIn dataIn(ScriptedPeer peer, ScsiCommand command, boolean last, int dataSn,
            int offset) {
        return new DataIn(last, false, last, 0, Residual.NONE, command.lun(), command.itt(),
                Bhs.NO_TAG, last ? peer.statSn() : 0, peer.expCmdSn(), peer.maxCmdSn(), dataSn,
                offset);
    }

    private static R2t r2t(ScriptedPeer peer, ScsiCommand command, int r2tSn, int offset,
            int length) {
        return new R2t(command.lun(), command.itt(), 5, peer.nextStatSn(), peer.expCmdSn(),
                peer.maxCmdSn(), r2tSn, offset, length);
    }

    static Stream<Misdeed> readsThatBreak() {
        return Stream.of((peer, _) -> peer.cut(), // before any data
                (peer, command) -> { // between two Data-In
                    peer.send(dataIn(peer, command, false, 0, 0), new byte[8192]);
                    peer.cut();
                }, (peer, command) -> { // in the middle of a data segment
                    byte[] pdu = peer.encode(dataIn(peer, command, false, 0, 0), new byte[8192]);
                    peer.sendBytes(Arrays.copyOf(pdu, 5000));
                    peer.cut();
                }, (peer, command) -> { // in the middle of a header
                    byte[] pdu = peer.encode(dataIn(peer, command, false, 0, 0), new byte[8192]);
                    peer.sendBytes(Arrays.copyOf(pdu, 20));
                }, (peer, command) -> { // beyond the buffer
                    peer.send(dataIn(peer, command, true, 0, BYTES - 4096), new byte[8192]);
                    peer.awaitEnd();
                }, (peer, command) -> { // at a negative offset
                    peer.send(dataIn(peer, command, true, 0, -4096), new byte[4096]);
                    peer.awaitEnd();
                }, (peer, command) -> { // one is missing
                    peer.send(dataIn(peer, command, false, 1, 0), new byte[8192]);
                    peer.awaitEnd();
                }, (peer, command) -> { // good, with less than all data
                    peer.send(dataIn(peer, command, true, 0, 0), new byte[8192]);
                    peer.awaitEnd();
                }, (peer, command) -> { // a response is missing
                    peer.statSn();
                    ScsiResponse response = ScsiResponse.completed(Status.BUSY.code(),
                            command.itt(), peer.statSn(), peer.expCmdSn(), peer.maxCmdSn(), 0);
                    peer.send(response);
                    peer.awaitEnd();
                }, (peer, _) -> { // no such PDU
                    peer.sendBytes(new byte[]{0x3e, (byte) 0x80});
                    peer.sendBytes(new byte[46]);
                    peer.awaitEnd();
                }, (peer, command) -> { // asks for data of a read
                    peer.send(r2t(peer, command, 0, 0, 512));
                    peer.awaitEnd();
                }, (peer, command) -> { // a longer data segment than was declared
                    byte[] pdu = peer.encode(dataIn(peer, command, true, 0, 0), new byte[8192]);
                    pdu[5] = (byte) 0xff;
                    peer.sendBytes(pdu);
                    peer.awaitEnd();
                });
    }

    @ParameterizedTest
    @MethodSource("readsThatBreak")
    void shouldEndAReadWhoseSessionBreaks(Misdeed misdeed) throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                misdeed.commit(peer, command);
                throw new IOException("the script is over");
            }
            return false;
        }); LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(4, Loopback.blocks(BLOCKS)))
                    .isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("READ(10) lba=4 blocks=64 on " + Loopback.TARGET + "/0");
            assertThat(device.session().isOpen()).isFalse();
            assertThatThrownBy(() -> device.write(4, Loopback.blocks(1)))
                    .isInstanceOf(DeviceGoneException.class);
        }
    }

    static Stream<Misdeed> writesThatBreak() {
        return Stream.of((peer, _) -> peer.cut(), // before any R2T
                (peer, command) -> { // after the R2T
                    peer.send(r2t(peer, command, 0, 8192, 16_384));
                    peer.cut();
                }, (peer, command) -> { // after some of the data
                    peer.send(r2t(peer, command, 0, 8192, 16_384));
                    peer.receive(DataOut.class);
                    peer.cut();
                }, (peer, command) -> { // beyond the command
                    peer.send(r2t(peer, command, 0, BYTES - 512, 1024));
                    peer.awaitEnd();
                }, (peer, command) -> { // more than MaxBurstLength
                    peer.send(r2t(peer, command, 0, 8192, 16_385));
                    peer.awaitEnd();
                }, (peer, command) -> { // R2TSN out of order
                    peer.send(r2t(peer, command, 1, 8192, 512));
                    peer.awaitEnd();
                }, (peer, command) -> { // data for a write
                    peer.send(dataIn(peer, command, true, 0, 0), new byte[512]);
                    peer.awaitEnd();
                });
    }

    @ParameterizedTest
    @MethodSource("writesThatBreak")
    void shouldEndAWriteWhoseSessionBreaks(Misdeed misdeed) throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof WriteBlocks) {
                misdeed.commit(peer, command);
                throw new IOException("the script is over");
            }
            return false;
        }); LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.write(4, Loopback.blocks(BLOCKS)))
                    .isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("WRITE(10) lba=4 blocks=64");
        }
    }

    @Test
    void shouldKeepTheCauseOfTheEnd() throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                peer.send(dataIn(peer, command, true, 0, BYTES), new byte[512]);
            }
            return cdb instanceof ReadBlocks;
        }); LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(BLOCKS)))
                    .hasCauseInstanceOf(ProtocolException.class).hasMessageContaining("RFC 7143");
        }
    }

    static Stream<Integer> bytesOfAPdu() {
        return Stream.of(20, 48, 52, 300); // header, its digest, data, their digest: 48 + 4 + 512 + 4
    }

    @ParameterizedTest
    @MethodSource("bytesOfAPdu")
    void shouldEndTheSessionAtAWrongDigest(int damaged) throws Exception {
        var disk = new ScriptedDisk();
        try (var loopback = new Loopback(peer -> {
            peer.login("HeaderDigest=CRC32C", "DataDigest=CRC32C");
            disk.serveLoggedIn(peer, (_, command, cdb) -> {
                if (cdb instanceof ReadBlocks) {
                    byte[] pdu = peer.encode(dataIn(peer, command, true, 0, 0), new byte[512]);
                    pdu[damaged] ^= 1;
                    peer.sendBytes(pdu);
                }
                return cdb instanceof ReadBlocks;
            });
        }); LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(1)))
                    .isInstanceOf(DeviceGoneException.class)
                    .hasCauseInstanceOf(DigestException.class);
        }
    }

    // --- time ---

    /** The only command of a session: even opening a unit may take longer than the timeout. */
    private static ScsiResult read(Session session) throws StorageException {
        return session.execute(Lun.ZERO, ReadBlocks.of(0, 1).bytes(), Loopback.blocks(1),
                MemorySegment.NULL);
    }

    @Test
    void shouldAbortACommandThatIsNotAnswered() throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (!(cdb instanceof ReadBlocks)) {
                return false;
            }
            var abort = peer.receive(TaskManagementRequest.class);
            assertThat(abort.function()).isEqualTo(TaskManagementFunction.ABORT_TASK.code());
            assertThat(abort.referencedTaskTag()).isEqualTo(command.itt());
            assertThat(abort.refCmdSn()).isEqualTo(command.cmdSn());
            peer.send(new TaskManagementResponse(0, 0, abort.itt(), peer.statSn(),
                    peer.expCmdSn(), peer.maxCmdSn()));
            return true;
        }).timeouts(Loopback.patient().withCommandMs(LATE_MS));
                Session session = loopback.login()) {
            assertThatThrownBy(() -> read(session))
                    .isInstanceOf(DeadlineException.class).hasMessageContaining(LATE_MS + " ms");
            assertThat(session.start(new Exchange.Ping()).await()).isPositive(); // it continues
        }
    }

    @Test
    void shouldAcceptAResponseReceivedWhileAborting() throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (!(cdb instanceof ReadBlocks)) {
                return false;
            }
            var abort = peer.receive(TaskManagementRequest.class);
            peer.send(dataIn(peer, command, true, 0, 0), new byte[512]);
            peer.send(new TaskManagementResponse(1, 0, abort.itt(), peer.statSn(),
                    peer.expCmdSn(), peer.maxCmdSn()));
            return true;
        }).timeouts(Loopback.patient().withCommandMs(LATE_MS));
                Session session = loopback.login()) {
            assertThat(read(session).isGood()).isTrue();
            assertThat(session.isOpen()).isTrue();
        }
    }

    @Test
    void shouldGiveUpTheSessionWhereAnAbortIsNotAnswered() throws Exception {
        try (var loopback = Loopback.disk((peer, _, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                peer.awaitEnd();
                throw new IOException("the script is over");
            }
            return false;
        }).timeouts(Loopback.patient().withCommandMs(LATE_MS).withAbortMs(100));
                Session session = loopback.login()) {
            assertThatThrownBy(() -> read(session))
                    .isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("did not respond in time");
        }
    }

    @Test
    void shouldGiveUpTheSessionWhereAnAbortIsRejected() throws Exception {
        try (var loopback = Loopback.disk((peer, _, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                var abort = peer.receive(TaskManagementRequest.class);
                peer.send(new TaskManagementResponse(5, 0, abort.itt(), peer.statSn(),
                        peer.expCmdSn(), peer.maxCmdSn()));
                peer.awaitEnd();
                throw new IOException("the script is over");
            }
            return false;
        }).timeouts(Loopback.patient().withCommandMs(LATE_MS));
                Session session = loopback.login()) {
            assertThatThrownBy(() -> read(session))
                    .isInstanceOf(DeviceGoneException.class).hasMessageContaining("not supported");
        }
    }

    @Test
    void shouldPingASilentTargetAndGiveUpWhereItStaysSilent() throws Exception {
        var pinged = new CompletableFuture<InitiatorPdu>();
        try (var loopback = new Loopback(peer -> {
            peer.login();
            InitiatorPdu pdu = peer.receive();
            while (pdu instanceof ScsiCommand) { // before the ping, or else behind it
                pdu = peer.receive();
            }
            pinged.complete(pdu);
            peer.awaitEnd();
        }).timeouts(Loopback.patient().withKeepAliveMs(2 * LATE_MS));
                Session session = loopback.login()) {
            assertThatThrownBy(() -> read(session))
                    .isInstanceOf(DeviceGoneException.class).hasMessageContaining("ping");
            assertThat(pinged.get(60, TimeUnit.SECONDS)).isInstanceOfSatisfying(NopOut.class,
                    ping -> assertThat(ping.isPing()).isTrue());
        }
    }

    @Test
    void shouldStayWhereATargetAnswersPings() throws Exception {
        var pings = new CountDownLatch(2);
        var disk = new ScriptedDisk();
        try (var loopback = new Loopback(peer -> {
            peer.login();
            while (pings.getCount() > 0) {
                var ping = peer.receive(NopOut.class);
                pings.countDown();
                peer.send(new NopIn(Lun.ZERO, ping.itt(), Bhs.NO_TAG, peer.statSn(),
                        peer.expCmdSn(), peer.maxCmdSn()));
            }
            disk.serveLoggedIn(peer, (_, _, _) -> false);
        }).timeouts(Loopback.patient().withKeepAliveMs(5_000)); // which this target has to keep
                Session session = loopback.login()) {
            assertThat(pings.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(session.isOpen()).isTrue();
        }
    }

    // --- what a target may ask ---

    @Test
    void shouldAnswerAPingWithItsData() throws Exception {
        var answer = new CompletableFuture<NopOut>();
        var echoed = new CompletableFuture<byte[]>();
        byte[] data = {1, 2, 3, 4, 5};
        try (var loopback = Loopback.disk((peer, _, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                peer.send(new NopIn(Lun.of(3), Bhs.NO_TAG, 99, peer.nextStatSn(), peer.expCmdSn(),
                        peer.maxCmdSn()), data);
                answer.complete(peer.receive(NopOut.class));
                echoed.complete(peer.data());
            }
            return false;
        }); LunDevice device = loopback.open()) {
            device.read(0, Loopback.blocks(1));
            assertThat(answer.get().ttt()).isEqualTo(99);
            assertThat(answer.get().itt()).isEqualTo(Bhs.NO_TAG);
            assertThat(answer.get().lun()).isEqualTo(Lun.of(3));
            assertThat(echoed.get()).isEqualTo(data);
        }
    }

    @Test
    void shouldLogOutWhenAsked() throws Exception {
        var loggedOut = new CompletableFuture<LogoutRequest>();
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (!(cdb instanceof ReadBlocks)) {
                return false;
            }
            peer.send(new AsyncMessage(Lun.ZERO, peer.statSn(), peer.expCmdSn(), peer.maxCmdSn(),
                    AsyncEvent.LOGOUT_REQUEST.code(), 0, 0, 0, 20));
            peer.send(dataIn(peer, command, true, 0, 0), new byte[512]);
            loggedOut.complete(peer.receive(LogoutRequest.class));
            throw new IOException("the script is over");
        }).timeouts(Loopback.patient().withLogoutMs(20_000)); LunDevice device = loopback.open()) {
            device.read(0, Loopback.blocks(1)); // ends, since it was there before
            assertThat(loggedOut.get(60, TimeUnit.SECONDS)).isNotNull();
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(1)))
                    .isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("requested a logout");
        }
    }

    @Test
    void shouldFailACommandThatIsRejected() throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                peer.send(new Reject(RejectReason.PROTOCOL_ERROR.code(), peer.statSn(),
                        peer.expCmdSn(), peer.maxCmdSn(), 0), peer.encode(command, new byte[0]));
            }
            return cdb instanceof ReadBlocks;
        }); LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(1)))
                    .isInstanceOf(AbortedException.class).hasMessageContaining("protocol error");
            device.write(0, Loopback.blocks(1)); // the session continues
        }
    }

    @Test
    void shouldFailACommandWhoseTargetFailed() throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                peer.send(new ScsiResponse(ScsiResponse.TARGET_FAILURE, 0, 0, Residual.NONE,
                        Residual.NONE, command.itt(), 0, peer.statSn(), peer.expCmdSn(),
                        peer.maxCmdSn(), 0));
            }
            return cdb instanceof ReadBlocks;
        }); LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(1)))
                    .isInstanceOfSatisfying(StorageException.class,
                            e -> assertThat(e.retryable()).isTrue());
        }
    }
}
