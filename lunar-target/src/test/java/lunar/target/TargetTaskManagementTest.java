package lunar.target;

import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_COMPLETE;
import static lunar.iscsi.pdu.TaskManagementResponseCode.TASK_DOES_NOT_EXIST;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;

/** Tests aborts of commands that a device holds, and the unit attentions of other sessions. */
class TargetTaskManagementTest {
    private static final int RESET_ATTENTION = 0x06_29_03;

    @Test
    void shouldAnswerAbortAfterDeviceHasCompleted() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            target.device.shut(1);
            int write = initiator.write(0, blocks(1, 0xaa));
            target.device.awaitArrivals();
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, write);
            initiator.assertSilent(); // not complete while the write may still land
            target.device.open();

            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
            initiator.assertSilent();
            assertThat(initiator.read(4, 1)).isEqualTo(blocks(1, 0));
        }
    }

    @Test
    void shouldAbortWriteThatWaitsForItsData() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1, "ImmediateData=Yes", "InitialR2T=Yes")) {
            int write = initiator.write(initiator.newTag(), initiator.useCmdSn(),
                    RawInitiator.writeCdb(0, 2), new byte[0], 1024, true);
            RawInitiator.Received r2t = initiator.receive();
            assertThat(r2t.opcode()).isEqualTo(R2t.OPCODE);

            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, write);
            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
            initiator.dataOut(write, r2t.bhs().ttt(), 0, 0, true, blocks(2, 0xdd)); // on its way already
            initiator.assertSilent();
            assertThat(initiator.read(0, 2)).isEqualTo(blocks(2, 0));
            assertThat(target.server.bufferBytesInUse()).isZero();
        }
    }

    @Test
    void shouldReportThatTaskDoesNotExist() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, 0x7777);
            assertThat(initiator.managed(abort)).isEqualTo(TASK_DOES_NOT_EXIST.code());
        }
    }

    @Test
    void shouldAbortOwnTasksOnlyWithAbortTaskSet() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1);
                var other = target.ready(2)) {
            target.device.shut(3);
            one.write(0, blocks(1, 1));
            one.write(1, blocks(1, 1));
            other.write(2, blocks(1, 2));
            target.device.awaitArrivals();
            int abort = one.manage(TaskManagementFunction.ABORT_TASK_SET, Bhs.NO_TAG);
            one.assertSilent();
            target.device.open();

            assertThat(one.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
            one.assertSilent();
            assertThat(other.receive().status()).isEqualTo(Status.GOOD);
            assertThat(other.takeAttentions()).isZero();
        }
    }

    @Test
    void shouldClearTheTaskSetOfItsOwnNexusOnly() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1);
                var other = target.ready(2)) {
            target.device.shut(2);
            one.write(1, blocks(1, 1));
            other.write(2, blocks(1, 2));
            target.device.awaitArrivals();
            int clear = one.manage(TaskManagementFunction.CLEAR_TASK_SET, Bhs.NO_TAG);
            one.assertSilent();
            target.device.open();

            assertThat(one.managed(clear)).isEqualTo(FUNCTION_COMPLETE.code());
            one.assertSilent();
            assertThat(other.receive().status()).isEqualTo(Status.GOOD);
            assertThat(other.takeAttentions()).isZero();
            assertThat(one.takeAttentions()).isZero();
        }
    }

    @Test
    void shouldAbortTasksOfAllSessionsAndReportThemOfReset() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1);
                var other = target.ready(2)) {
            target.device.shut(2);
            one.write(0, blocks(1, 1));
            other.write(1, blocks(1, 2));
            target.device.awaitArrivals();
            int reset = one.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, Bhs.NO_TAG);
            one.assertSilent();
            target.device.open();

            assertThat(one.managed(reset)).isEqualTo(FUNCTION_COMPLETE.code());
            one.assertSilent();
            other.assertSilent();
            for (RawInitiator each : List.of(one, other)) {
                assertThat(each.command(new byte[6], 0).sense()).isEqualTo(RESET_ATTENTION);
                assertThat(each.takeAttentions()).isZero();
            }
            TargetFixture.await("memory comes back", () -> target.server.bufferBytesInUse() == 0);
        }
    }
}
