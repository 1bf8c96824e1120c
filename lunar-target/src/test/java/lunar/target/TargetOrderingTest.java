package lunar.target;

import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_COMPLETE;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;

/** Tests the ordering on which a host relies that retries or takes over. */
class TargetOrderingTest {
    @Test
    void shouldNotCompleteResetWhileAnAlreadyAbortedWriteMayStillLand() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            target.device.shut(1);
            int write = initiator.write(0, blocks(1, 0xaa));
            target.device.awaitArrivals();
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, write);
            int reset = initiator.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, Bhs.NO_TAG);
            initiator.assertSilent();
            target.device.open();

            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
            assertThat(initiator.managed(reset)).isEqualTo(FUNCTION_COMPLETE.code());
        }
    }

    @Test
    void shouldNotAbortWhatWasSentAfterTheRequest() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1, "ImmediateData=Yes", "InitialR2T=Yes")) {
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK_SET, Bhs.NO_TAG);
            int write = initiator.write(initiator.newTag(), initiator.useCmdSn(),
                    RawInitiator.writeCdb(0, 1), new byte[0], 512, true);

            boolean managed = false;
            RawInitiator.Received answer = initiator.receive();
            while (answer.opcode() != ScsiResponse.OPCODE) {
                if (answer.opcode() == TaskManagementResponse.OPCODE) {
                    assertThat(answer.bhs().itt()).isEqualTo(abort);
                    managed = true;
                } else {
                    assertThat(answer.opcode()).isEqualTo(R2t.OPCODE);
                    initiator.dataOut(write, answer.bhs().ttt(), 0, 0, true, blocks(1, 0xbb));
                }
                answer = initiator.receive();
            }
            assertThat(answer.status()).isEqualTo(Status.GOOD);
            assertThat(managed || initiator.managed(abort) == 0).isTrue();
            assertThat(initiator.read(0, 1)).isEqualTo(blocks(1, 0xbb));
        }
    }

    @Test
    void shouldAnswerLogoutAfterDeviceHasCompletedEveryWrite() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            target.device.shut(1);
            initiator.write(0, blocks(1, 0xaa));
            target.device.awaitArrivals();
            initiator.logout();
            CompletableFuture<RawInitiator.Received> answer = CompletableFuture.supplyAsync(() -> {
                try {
                    return initiator.receive();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            try (var other = target.ready(2)) { // by when the logout has been taken, on whichever loop
                assertThat(answer).isNotDone();
            }
            target.device.open();

            assertThat(answer.join().opcode()).isEqualTo(LogoutResponse.OPCODE);
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 0xaa));
        }
    }

    @Test
    void shouldYieldDuringLongCommandsAndCompleteThem() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            int count = (int) Math.min(target.device.blockCount(), 0xffff);
            byte[] pattern = blocks(1, 0x5a);
            byte[] writeSame = ByteBuffer.allocate(10).put((byte) 0x41).put((byte) 0).putInt(0)
                    .put((byte) 0).putShort((short) count).array();
            initiator.write(initiator.newTag(), initiator.useCmdSn(), writeSame, pattern, 512,
                    true);
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
            assertThat(target.onDevice(count - 1L, 1)).isEqualTo(pattern);

            byte[] verify = ByteBuffer.allocate(10).put((byte) 0x2f).put((byte) 0).putInt(0)
                    .put((byte) 0).putShort((short) count).array();
            assertThat(initiator.command(verify, 0).status()).isEqualTo(Status.GOOD);
        }
    }
}
