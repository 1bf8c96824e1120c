package lunar.target;

import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.EOFException;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.Arrays;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.RejectReason;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;

/** Tests commands over the wire: their order, their data in every valid form, and protocol errors. */
class TargetCommandsTest {
    /** Bursts of 1 KiB, four of them asked for at once, and the first one without being asked. */
    private static final String[] SMALL_BURSTS = {"InitialR2T=No", "ImmediateData=Yes",
            "MaxBurstLength=1024", "FirstBurstLength=1024", "MaxOutstandingR2T=4"};

    @Test
    void shouldAcceptImmediateUnsolicitedAndSolicitedDataOfOneWrite() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1, SMALL_BURSTS)) {
            byte[] data = new byte[8192];
            for (int i = 0; i < data.length; i++) {
                data[i] = (byte) (i * 31 + i / 512);
            }
            int itt = initiator.write(initiator.newTag(), initiator.useCmdSn(),
                    RawInitiator.writeCdb(8, 16), Arrays.copyOf(data, 512), 8192, false);
            initiator.dataOut(itt, Bhs.NO_TAG, 0, 512, true, Arrays.copyOfRange(data, 512, 1024));

            int asked = 1024;
            int answered = 1024;
            var r2ts = new ArrayDeque<RawInitiator.Received>();
            for (int i = 0; i < 4; i++) { // all it may have outstanding come before any is answered
                RawInitiator.Received r2t = initiator.receive();
                assertThat(r2t.opcode()).isEqualTo(R2t.OPCODE);
                assertThat(r2t.bhs().int32(R2t.R2T_SN)).isEqualTo(i);
                assertThat(r2t.bhs().int32(R2t.BUFFER_OFFSET)).isEqualTo(asked);
                assertThat(r2t.bhs().int32(R2t.DESIRED_DATA_TRANSFER_LENGTH)).isEqualTo(1024);
                asked += 1024;
                r2ts.add(r2t);
            }
            assertThat(initiator.isQuiet()).isTrue();
            while (answered < 8192) {
                Bhs r2t = r2ts.remove().bhs();
                int at = r2t.int32(R2t.BUFFER_OFFSET);
                initiator.dataOut(itt, r2t.ttt(), 0, at, false,
                        Arrays.copyOfRange(data, at, at + 512));
                initiator.dataOut(itt, r2t.ttt(), 1, at + 512, true,
                        Arrays.copyOfRange(data, at + 512, at + 1024));
                answered += 1024;
                if (asked < 8192) {
                    r2ts.add(initiator.receive());
                    asked += 1024;
                }
            }

            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.status()).isEqualTo(Status.GOOD);
            assertThat(answer.bhs().int32(ScsiResponse.RESIDUAL_COUNT)).isZero();
            assertThat(initiator.read(8, 16)).isEqualTo(data);
        }
    }

    @Test
    void shouldWriteReceivedDataIfCommandNeedsMore() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            initiator.write(initiator.newTag(), initiator.useCmdSn(), RawInitiator.writeCdb(0, 2),
                    blocks(1, 0x11), 512, true);

            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.status()).isEqualTo(Status.GOOD);
            assertThat(answer.bhs().flags() & ScsiResponse.OVERFLOW).isNotZero();
            assertThat(answer.bhs().int32(ScsiResponse.RESIDUAL_COUNT)).isEqualTo(512);
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 0x11));
            assertThat(target.onDevice(1, 1)).isEqualTo(blocks(1, 0));
        }
    }

    @Test
    void shouldWriteNeededDataIfInitiatorSendsMore() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            initiator.write(initiator.newTag(), initiator.useCmdSn(), RawInitiator.writeCdb(0, 1),
                    blocks(3, 0x22), 1536, true);

            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.status()).isEqualTo(Status.GOOD);
            assertThat(answer.bhs().flags() & ScsiResponse.UNDERFLOW).isNotZero();
            assertThat(answer.bhs().int32(ScsiResponse.RESIDUAL_COUNT)).isEqualTo(1024);
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 0x22));
            assertThat(target.onDevice(1, 2)).isEqualTo(blocks(2, 0));
        }
    }

    @Test
    void shouldRejectCommandWhoseTagIsInUse() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            target.device.shut(1);
            int itt = initiator.write(0, blocks(1, 0x33));
            target.device.awaitArrivals();
            initiator.write(itt, initiator.useCmdSn(), RawInitiator.writeCdb(1, 1),
                    blocks(1, 0x44), 512, true);

            RawInitiator.Received reject = initiator.receive();
            assertThat(reject.opcode()).isEqualTo(Reject.OPCODE);
            assertThat(reject.bhs().int8(Reject.REASON))
                    .isEqualTo(RejectReason.TASK_IN_PROGRESS.code());
            target.device.open();
            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.bhs().itt()).isEqualTo(itt);
            assertThat(answer.status()).isEqualTo(Status.GOOD);
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 0x33));
            assertThat(initiator.read(1, 1)).as("the refused one wrote nothing, and the next"
                    + " command is in order").isEqualTo(blocks(1, 0));
        }
    }

    @Test
    void shouldIgnoreCommandsOutsideWindow() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            int beyond = initiator.maxCmdSn() + 1;
            int old = initiator.cmdSn() - 1;
            initiator.write(initiator.newTag(), beyond, RawInitiator.writeCdb(0, 1),
                    blocks(1, 0x66), 512, true);
            initiator.write(initiator.newTag(), old, RawInitiator.writeCdb(0, 1), blocks(1, 0x66),
                    512, true);
            int ping = initiator.ping();

            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.opcode()).as("nothing but the answer to the ping")
                    .isEqualTo(NopIn.OPCODE);
            assertThat(answer.bhs().itt()).isEqualTo(ping);
            assertThat(initiator.read(0, 1)).isEqualTo(blocks(1, 0));
        }
    }

    @Test
    void shouldExecuteCommandsInOrderOfTheirNumbers() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            int first = initiator.useCmdSn();
            int second = initiator.useCmdSn();
            int third = initiator.useCmdSn();
            int thirdTag = initiator.write(initiator.newTag(), third, RawInitiator.writeCdb(0, 1),
                    blocks(1, 3), 512, true);
            int secondTag = initiator.write(initiator.newTag(), second, RawInitiator.writeCdb(0, 1),
                    blocks(1, 2), 512, true);
            assertThat(initiator.isQuiet()).isTrue();
            int firstTag = initiator.write(initiator.newTag(), first, RawInitiator.writeCdb(0, 1),
                    blocks(1, 1), 512, true);

            for (int tag : new int[]{firstTag, secondTag, thirdTag}) {
                RawInitiator.Received answer = initiator.receive();
                assertThat(answer.status()).isEqualTo(Status.GOOD);
                assertThat(answer.bhs().itt()).isEqualTo(tag);
            }
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 3));
        }
    }

    @Test
    void shouldRejectCommandThatReachesPastTheDevice() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            RawInitiator.Received answer = initiator.command(RawInitiator.readCdb(2047, 2), 1024);

            assertThat(answer.status()).isEqualTo(Status.CHECK_CONDITION);
            assertThat(answer.sense()).isEqualTo(0x05_21_00);
            assertThat(answer.bhs().flags() & ScsiResponse.UNDERFLOW).isNotZero();
            assertThat(answer.bhs().int32(ScsiResponse.RESIDUAL_COUNT)).isEqualTo(1024);
        }
    }

    @Test
    void shouldEndConnectionWhoseDataLieOutsideTheirBurst() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1, SMALL_BURSTS)) {
            int itt = initiator.write(initiator.newTag(), initiator.useCmdSn(),
                    RawInitiator.writeCdb(0, 16), blocks(2, 1), 8192, true);
            RawInitiator.Received r2t = initiator.receive();
            assertThat(r2t.opcode()).isEqualTo(R2t.OPCODE);
            // The offset is not what the R2T asked for: an ended command or an ended connection, never a write.
            initiator.dataOut(itt, r2t.bhs().ttt(), 0, 7168, true, blocks(2, 9));

            assertThat(endsInErrorOrClosed(initiator)).isTrue();
            assertThat(target.onDevice(0, 16)).isEqualTo(blocks(16, 0));
        }
    }

    private static boolean endsInErrorOrClosed(RawInitiator initiator) throws Exception {
        try {
            while (true) {
                RawInitiator.Received answer = initiator.receive();
                if (answer.opcode() == ScsiResponse.OPCODE) {
                    return answer.status() == Status.CHECK_CONDITION;
                }
            }
        } catch (EOFException | SocketException _) {
            return true;
        }
    }
}
