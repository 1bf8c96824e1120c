package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import lunar.block.DeviceGoneException;
import lunar.initiator.internal.session.Command;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.RejectReason;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.SnackRequest;
import lunar.iscsi.pdu.SnackType;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.WriteBlocks;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;

/**
 * Tests error recovery within a connection and across connections (RFC 7143 sections 7.1.4, 7.2, 7.8 and 7.9), PDU by
 * PDU.
 */
class RecoveryTest {
    private static final int HALF = 8192;
    private static final int BLOCKS = 2 * HALF / ScriptedDisk.BLOCK_SIZE;

    private static byte[] half(int value) {
        byte[] bytes = new byte[HALF];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    private static DataIn dataIn(ScriptedPeer peer, ScsiCommand command, int dataSn, int statSn,
            boolean ask) {
        boolean last = dataSn == 1;
        return new DataIn(last || ask, ask, last, 0, Residual.NONE, command.lun(), command.itt(),
                ask ? 77 : Bhs.NO_TAG, last ? statSn : 0, peer.expCmdSn(), peer.maxCmdSn(), dataSn,
                dataSn * HALF);
    }

    private static ScsiResponse good(ScriptedPeer peer, int itt, int statSn, int expDataSn) {
        return ScsiResponse.completed(Status.GOOD.code(), itt, statSn, peer.expCmdSn(),
                peer.maxCmdSn(), expDataSn);
    }

    private static void sendDamaged(ScriptedPeer peer, Pdu pdu, byte[] data) throws IOException {
        byte[] bytes = peer.encode(pdu, data);
        bytes[bytes.length - 9]++;
        peer.sendBytes(bytes);
    }

    /** Expects a SNACK. */
    private static void snack(ScriptedPeer peer, SnackType type, int itt, int begRun, int runLength)
            throws IOException {
        SnackRequest snack = peer.receive(SnackRequest.class);
        assertThat(snack.type()).isEqualTo(type);
        assertThat(snack.itt()).isEqualTo(itt);
        assertThat(snack.begRun()).isEqualTo(begRun);
        assertThat(snack.runLength()).isEqualTo(runLength);
    }

    @FunctionalInterface
    private interface Fault {
        void read(ScriptedPeer peer, ScsiCommand command) throws Exception;
    }

    /** Reads two Data-In from a target that has its trouble with them. */
    private static void read(Fault fault) throws Exception {
        var disk = new ScriptedDisk();
        try (var loopback = new Loopback(peer -> {
            peer.login("ErrorRecoveryLevel=1", "DataDigest=CRC32C");
            disk.serveLoggedIn(peer, (_, command, cdb) -> {
                if (cdb instanceof ReadBlocks) {
                    fault.read(peer, command);
                    return true;
                }
                return false;
            });
        }); Session session = loopback.initiator.login(options(loopback, 1))) {
            LunDevice device = session.open(Lun.ZERO);
            MemorySegment buffer = Loopback.blocks(BLOCKS);
            device.read(0, buffer);
            assertThat(buffer.asSlice(0, HALF).mismatch(MemorySegment.ofArray(half(1))))
                    .isNegative();
            assertThat(buffer.asSlice(HALF).mismatch(MemorySegment.ofArray(half(2)))).isNegative();
            device.write(0, buffer); // numbers continue as they should
            assertThat(session.isOpen()).isTrue();
        }
    }

    private static SessionOptions options(Loopback loopback, int level) {
        SessionOptions options = loopback.options().withErrorRecoveryLevel(level);
        return options.withOffer(options.offer().withDataDigest(DigestChoice.PREFER_CRC32C));
    }

    @Test
    void shouldRequestDamagedDataAgain() throws Exception {
        read((peer, command) -> {
            sendDamaged(peer, dataIn(peer, command, 0, 0, false), half(1));
            snack(peer, SnackType.DATA_R2T, command.itt(), 0, 0);
            int statSn = peer.statSn();
            peer.send(dataIn(peer, command, 0, statSn, false), half(1));
            peer.send(dataIn(peer, command, 1, statSn, false), half(2));
        });
    }

    @Test
    void shouldRequestDamagedDataAndStatusAgain() throws Exception {
        read((peer, command) -> {
            int statSn = peer.statSn();
            peer.send(dataIn(peer, command, 0, statSn, false), half(1));
            sendDamaged(peer, dataIn(peer, command, 1, statSn, false), half(2));
            snack(peer, SnackType.DATA_R2T, command.itt(), 1, 0);
            sendDamaged(peer, dataIn(peer, command, 1, statSn, false), half(2)); // once more
            snack(peer, SnackType.DATA_R2T, command.itt(), 1, 0);
            peer.send(dataIn(peer, command, 1, statSn, false), half(2));
        });
    }

    @Test
    void shouldRequestMissingDataOnceAndDiscardLaterData() throws Exception {
        read((peer, command) -> {
            int statSn = peer.statSn();
            peer.send(dataIn(peer, command, 1, statSn, false), half(9));
            snack(peer, SnackType.DATA_R2T, command.itt(), 0, 0);
            peer.send(dataIn(peer, command, 0, statSn, false), half(1));
            peer.send(dataIn(peer, command, 1, statSn, false), half(2));
        });
    }

    @Test
    void shouldNotAcknowledgeAStatusBeforeItsData() throws Exception {
        read((peer, command) -> {
            int statSn = peer.statSn();
            peer.send(good(peer, command.itt(), statSn, 2));
            SnackRequest snack = peer.receive(SnackRequest.class);
            assertThat(snack.type()).isEqualTo(SnackType.DATA_R2T);
            assertThat(snack.expStatSn()).isEqualTo(statSn);
            peer.send(dataIn(peer, command, 0, 0, false), half(1));
            peer.send(new DataIn(true, false, false, 0, Residual.NONE, command.lun(),
                    command.itt(), Bhs.NO_TAG, 0, peer.expCmdSn(), peer.maxCmdSn(), 1, HALF),
                    half(2));
        });
    }

    @Test
    void shouldAcknowledgeDataOnRequest() throws Exception {
        read((peer, command) -> {
            int statSn = peer.statSn();
            peer.send(dataIn(peer, command, 0, statSn, true), half(1));
            SnackRequest snack = peer.receive(SnackRequest.class);
            assertThat(snack.type()).isEqualTo(SnackType.DATA_ACK);
            assertThat(snack.ttt()).isEqualTo(77);
            assertThat(snack.begRun()).isOne();
            peer.send(dataIn(peer, command, 1, statSn, false), half(2));
        });
    }

    @Test
    void shouldRequestAStatusThatIsMissing() throws Exception {
        var disk = new ScriptedDisk();
        var first = new ArrayList<ScsiCommand>();
        try (var loopback = new Loopback(peer -> {
            peer.login("ErrorRecoveryLevel=1");
            disk.serveLoggedIn(peer, (_, command, cdb) -> {
                if (!(cdb instanceof WriteBlocks)) {
                    return false;
                }
                if (first.isEmpty()) {
                    first.add(command);
                    return true;
                }
                int lost = peer.statSn();
                int statSn = peer.statSn();
                peer.send(good(peer, command.itt(), statSn, 0));
                snack(peer, SnackType.STATUS, Bhs.NO_TAG, lost, 1);
                peer.send(good(peer, first.getFirst().itt(), lost, 0));
                return true;
            });
        }); Session session = loopback.initiator.login(options(loopback, 1))) {
            LunDevice device = session.open(Lun.ZERO);
            var both = new ArrayList<Task<ScsiResult>>();
            for (int i = 0; i < 2; i++) {
                both.add(session.start(Exchange.Scsi.writing(Lun.ZERO,
                        Bytes.of(WriteBlocks.of(i, 1, false).bytes()), Loopback.blocks(1))));
            }
            for (Task<ScsiResult> each : both) {
                assertThat(each.await().isGood()).isTrue();
            }
            device.read(0, Loopback.blocks(1));
        }
    }

    @Test
    void shouldSendACommandAgainThatTheTargetDroppedForItsDigest() throws Exception {
        var disk = new ScriptedDisk();
        var rejected = new AtomicInteger();
        try (var loopback = new Loopback(peer -> {
            peer.login("ErrorRecoveryLevel=1");
            disk.serveLoggedIn(peer, (_, command, cdb) -> {
                if (cdb instanceof WriteBlocks && rejected.getAndIncrement() == 0) {
                    byte[] header = new byte[Bhs.LENGTH];
                    command.encode(new Bhs().wrap(MemorySegment.ofArray(header)));
                    peer.send(new Reject(RejectReason.DATA_DIGEST_ERROR.code(), peer.statSn(),
                            command.cmdSn(), peer.maxCmdSn(), 0), header);
                    ScsiCommand again = peer.receive(ScsiCommand.class);
                    assertThat(again.cmdSn()).isEqualTo(command.cmdSn());
                    assertThat(again.itt()).isEqualTo(command.itt());
                    peer.send(good(peer, again.itt(), peer.statSn(), 0));
                    return true;
                }
                return false;
            });
        }); Session session = loopback.initiator.login(options(loopback, 1))) {
            session.open(Lun.ZERO).write(0, Loopback.blocks(1));
            assertThat(rejected).hasValue(1);
        }
    }

    @Test
    void shouldGiveUpAConnectionThatNeverDeliversIntactData() throws Exception {
        var damaged = new AtomicInteger();
        assertThatThrownBy(() -> read((peer, command) -> {
            sendDamaged(peer, dataIn(peer, command, 0, 0, false), half(1));
            for (InitiatorPdu pdu = peer.receive(); pdu instanceof SnackRequest; pdu = peer
                    .receive()) {
                damaged.incrementAndGet();
                sendDamaged(peer, dataIn(peer, command, 0, 0, false), half(1));
            }
        })).isInstanceOf(DeviceGoneException.class).hasMessageContaining("was requested 64 times");
        assertThat(damaged).hasValue(Command.MAX_SNACKS);
    }

    // --- level 2: a connection that is lost ---

    /** A target whose first connection ends amid a command, and what the second one brings. */
    private static void lost(boolean acknowledged, Fault firstRead, Fault second,
            Consumer<LunDevice> what) throws Exception {
        var disk = new ScriptedDisk();
        var logins = new AtomicInteger();
        var cut = new ArrayList<ScsiCommand>();
        var gone = new CountDownLatch(1);
        var statSn = new AtomicInteger();
        try (var loopback = new Loopback(peer -> {
            if (logins.getAndIncrement() == 0) {
                peer.login("ErrorRecoveryLevel=2", "DefaultTime2Wait=0", "DefaultTime2Retain=20");
                disk.serveLoggedIn(peer, (_, command, cdb) -> {
                    if (cdb instanceof ReadBlocks || cdb instanceof WriteBlocks) {
                        cut.add(command);
                        firstRead.read(peer, command);
                        statSn.set(peer.nextStatSn());
                        peer.cut();
                        gone.countDown();
                        throw new IOException("cut");
                    }
                    return false;
                });
                return;
            }
            gone.await();
            ScsiCommand command = cut.getFirst();
            peer.expCmdSn(acknowledged ? command.cmdSn() + 1 : command.cmdSn());
            LoginRequest login = peer.admit("ErrorRecoveryLevel=2");
            assertThat(login.tsih()).isNotZero();
            assertThat(login.cid()).isZero();
            assertThat(login.expStatSn()).as("of the lost connection").isEqualTo(statSn.get());
            second.read(peer, command);
            disk.serveLoggedIn(peer, (_, _, _) -> false);
        }); Session session = loopback.initiator.login(options(loopback, 2))) {
            LunDevice device = session.open(Lun.ZERO);
            what.accept(device);
            assertThat(session.isOpen()).isTrue();
            assertThat(logins).hasValue(2);
        }
    }

    private static void readHalves(LunDevice device) {
        MemorySegment buffer = Loopback.blocks(BLOCKS);
        try {
            device.read(0, buffer);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        assertThat(buffer.asSlice(0, HALF).mismatch(MemorySegment.ofArray(half(1)))).isNegative();
        assertThat(buffer.asSlice(HALF).mismatch(MemorySegment.ofArray(half(2)))).isNegative();
    }

    private static TaskManagementRequest reassign(ScriptedPeer peer, ScsiCommand command,
            int expDataSn, TaskManagementResponseCode code) throws IOException {
        var request = peer.receive(TaskManagementRequest.class);
        assertThat(request.knownFunction()).contains(TaskManagementFunction.TASK_REASSIGN);
        assertThat(request.immediate()).isTrue();
        assertThat(request.referencedTaskTag()).isEqualTo(command.itt());
        assertThat(request.expDataSn()).isEqualTo(expDataSn);
        peer.send(new TaskManagementResponse(code.code(), 0, request.itt(), peer.statSn(),
                peer.expCmdSn(), peer.maxCmdSn()));
        return request;
    }

    @Test
    void shouldReassignAReadAndContinueWhereItWas() throws Exception {
        lost(true, (peer, command) -> {
            peer.send(dataIn(peer, command, 0, 0, false), half(1));
            peer.send(new NopIn(Lun.ZERO, Bhs.NO_TAG, 99, peer.nextStatSn(), peer.expCmdSn(),
                    peer.maxCmdSn()));
            NopOut _ = peer.receive(NopOut.class); // or the reset may overtake the data
        }, (peer, command) -> {
            reassign(peer, command, 1, TaskManagementResponseCode.FUNCTION_COMPLETE);
            peer.send(dataIn(peer, command, 1, peer.statSn(), false), half(2));
        }, RecoveryTest::readHalves);
    }

    @Test
    void shouldTryAgainWhileTheTaskIsStillAllegiant() throws Exception {
        lost(true, (_, _) -> {}, (peer, command) -> {
            reassign(peer, command, 0, TaskManagementResponseCode.TASK_STILL_ALLEGIANT);
            reassign(peer, command, 0, TaskManagementResponseCode.FUNCTION_COMPLETE);
            int statSn = peer.statSn();
            peer.send(dataIn(peer, command, 0, statSn, false), half(1));
            peer.send(dataIn(peer, command, 1, statSn, false), half(2));
        }, RecoveryTest::readHalves);
    }

    @Test
    void shouldContinueATaskWhoseReassignmentWasRejected() throws Exception {
        lost(true, (_, _) -> {}, (peer, command) -> {
            reassign(peer, command, 0, TaskManagementResponseCode.FUNCTION_REJECTED); // as LIO does
            int statSn = peer.statSn();
            peer.send(dataIn(peer, command, 0, statSn, false), half(1));
            peer.send(dataIn(peer, command, 1, statSn, false), half(2));
        }, RecoveryTest::readHalves);
    }

    @Test
    void shouldSendACommandAgainThatTheTargetHasNotKept() throws Exception {
        lost(true, (_, _) -> {}, (peer, command) -> {
            reassign(peer, command, 0, TaskManagementResponseCode.TASK_DOES_NOT_EXIST);
            ScsiCommand again = peer.receive(ScsiCommand.class);
            assertThat(again.cmdSn()).as("a new command").isEqualTo(command.cmdSn() + 1);
            int statSn = peer.statSn();
            peer.send(dataIn(peer, again, 0, statSn, false), half(1));
            peer.send(dataIn(peer, again, 1, statSn, false), half(2));
        }, RecoveryTest::readHalves);
    }

    @Test
    void shouldRetryUnreceivedCommandsWithTheirCmdSn() throws Exception {
        lost(false, (_, _) -> {}, (peer, command) -> {
            ScsiCommand again = peer.receive(ScsiCommand.class);
            assertThat(again.cmdSn()).isEqualTo(command.cmdSn());
            assertThat(again.itt()).isEqualTo(command.itt());
            int statSn = peer.statSn();
            peer.send(dataIn(peer, again, 0, statSn, false), half(1));
            peer.send(dataIn(peer, again, 1, statSn, false), half(2));
        }, RecoveryTest::readHalves);
    }

    @Test
    void shouldReassignAWriteAndSendWhatIsRequestedFromThere() throws Exception {
        var came = new ArrayList<byte[]>();
        lost(true, (peer, command) -> {
            peer.send(new R2t(command.lun(), command.itt(), 5, peer.nextStatSn(), peer.expCmdSn(),
                    peer.maxCmdSn(), 0, HALF, 4096));
            InitiatorPdu _ = peer.receive();
        }, (peer, command) -> {
            reassign(peer, command, 1, TaskManagementResponseCode.FUNCTION_COMPLETE);
            peer.send(new R2t(command.lun(), command.itt(), 6, peer.nextStatSn(), peer.expCmdSn(),
                    peer.maxCmdSn(), 1, HALF + 2048, HALF - 2048)); // amid what was asked for before
            InitiatorPdu _ = peer.receive();
            came.add(peer.data());
            peer.send(good(peer, command.itt(), peer.statSn(), 0));
        }, device -> {
            MemorySegment buffer = Loopback.blocks(BLOCKS);
            buffer.asSlice(0, HALF).fill((byte) 1);
            buffer.asSlice(HALF).fill((byte) 2);
            try {
                device.write(0, buffer);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(came).singleElement().satisfies(data -> assertThat(data).hasSize(HALF - 2048)
                .containsOnly(2));
    }

    @Test
    void shouldEndASessionThatTheTargetHasForgotten() throws Exception {
        var logins = new AtomicInteger();
        var disk = new ScriptedDisk();
        try (var loopback = new Loopback(peer -> {
            if (logins.getAndIncrement() == 0) {
                peer.login("ErrorRecoveryLevel=2", "DefaultTime2Wait=0", "DefaultTime2Retain=20");
                disk.serveLoggedIn(peer, (_, _, cdb) -> {
                    if (cdb instanceof ReadBlocks) {
                        peer.cut();
                        throw new IOException("cut");
                    }
                    return false;
                });
            } else {
                peer.send(peer.loginResponse(peer.receive(LoginRequest.class), false, 2, 0x0a));
                peer.awaitEnd();
            }
        }); Session session = loopback.initiator.login(options(loopback, 2))) {
            LunDevice device = session.open(Lun.ZERO);
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(1)))
                    .isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("no such session");
            assertThat(session.isOpen()).isFalse();
        }
    }

    @Test
    void shouldRejectAnythingButALevel() {
        for (int level : List.of(-1, 3)) {
            assertThatThrownBy(() -> SessionOptions.of("host", 3260, Loopback.TARGET)
                    .withErrorRecoveryLevel(level)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
