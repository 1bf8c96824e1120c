package lunar.target;

import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_COMPLETE;
import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_NOT_SUPPORTED;
import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_SUCCEEDED;
import static lunar.iscsi.pdu.TaskManagementResponseCode.LUN_DOES_NOT_EXIST;
import static lunar.iscsi.pdu.TaskManagementResponseCode.TASK_DOES_NOT_EXIST;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;

/**
 * Tests task management other than aborts: order, queries, resets of several units, and the resulting unit attentions.
 */
class TargetManagementFunctionsTest {
    private static final String LEVEL_2 = "iSCSIProtocolLevel=2";
    private static final int NEXUS_LOSS = 0x06_29_07;
    private static final int RESET = 0x06_29_03;

    @Test
    void shouldConsumeTheCmdSnOfAnAbortedCommandNotReceived() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            int lost = initiator.useCmdSn();
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, Lun.ZERO,
                    initiator.newTag(), initiator.cmdSn(), lost);
            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());

            assertThat(initiator.command(new byte[6], 0).status()).isEqualTo(Status.GOOD);
            int again = initiator.newTag(); // the command that was late
            initiator.write(again, lost, RawInitiator.writeCdb(0, 1), blocks(1, 1), 512, true);
            initiator.assertSilent();
            assertThat(initiator.read(0, 1)).isEqualTo(blocks(1, 0));
        }
    }

    @Test
    void shouldAbortHeldCommandPermanently() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            int late = initiator.useCmdSn();
            int held = initiator.write(0, blocks(1, 1));
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, held);
            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
            int first = initiator.newTag();
            initiator.write(first, late, RawInitiator.writeCdb(1, 1), blocks(1, 2), 512, true);

            assertThat(initiator.receive().bhs().itt()).isEqualTo(first);
            assertThat(initiator.command(new byte[6], 0).status()).isEqualTo(Status.GOOD);
            assertThat(initiator.read(0, 1)).isEqualTo(blocks(1, 0));
        }
    }

    @Test
    void shouldReportThatTaskOutsideTheWindowDoesNotExist() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            for (int refCmdSn : new int[]{initiator.cmdSn() - 1, initiator.cmdSn(),
                    initiator.maxCmdSn() + 1}) {
                int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, Lun.ZERO, 0x7777,
                        initiator.cmdSn(), refCmdSn);
                assertThat(initiator.managed(abort)).isEqualTo(TASK_DOES_NOT_EXIST.code());
            }
            assertThat(initiator.command(new byte[6], 0).status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldStopWaitingForMissingCommandsAfterATimeout() throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(600_000, 600_000, 100));
                var initiator = target.ready(1)) {
            initiator.useCmdSn(); // never sent
            int held = initiator.send(new byte[6], 0);
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK_SET, Bhs.NO_TAG);

            RawInitiator.Received first = initiator.receive(); // delivered now, and over at once
            assertThat(first.bhs().itt()).isEqualTo(held);
            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
            assertThat(initiator.command(new byte[6], 0).status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldHandleEarlierPdusInOrder() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            int late = initiator.useCmdSn();
            target.device.shut(1);
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK_SET, Bhs.NO_TAG);
            initiator.assertSilent(); // waits for the one that is late
            initiator.write(initiator.newTag(), late, RawInitiator.writeCdb(0, 1), blocks(1, 1),
                    512, true);
            target.device.awaitArrivals();
            initiator.assertSilent();
            target.device.open();

            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
            initiator.assertSilent();
        }
    }

    @Test
    void shouldAnswerQueriesFromLevelTwoOn() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1, LEVEL_2);
                var old = target.ready(2)) {
            assertThat(query(initiator, TaskManagementFunction.QUERY_TASK_SET, Bhs.NO_TAG))
                    .isEqualTo(FUNCTION_COMPLETE.code());
            target.device.shut(1);
            int write = initiator.write(0, blocks(1, 1));
            target.device.awaitArrivals();
            assertThat(query(initiator, TaskManagementFunction.QUERY_TASK, write))
                    .isEqualTo(FUNCTION_SUCCEEDED.code());
            assertThat(query(initiator, TaskManagementFunction.QUERY_TASK_SET, Bhs.NO_TAG))
                    .isEqualTo(FUNCTION_SUCCEEDED.code());
            assertThat(query(initiator, TaskManagementFunction.QUERY_TASK, 0x7777))
                    .isEqualTo(TASK_DOES_NOT_EXIST.code());
            assertThat(query(old, TaskManagementFunction.QUERY_TASK_SET, Bhs.NO_TAG))
                    .isEqualTo(FUNCTION_NOT_SUPPORTED.code());
            assertThat(query(old, TaskManagementFunction.I_T_NEXUS_RESET, Bhs.NO_TAG))
                    .isEqualTo(FUNCTION_NOT_SUPPORTED.code());
            assertThat(query(old, TaskManagementFunction.CLEAR_ACA, Bhs.NO_TAG))
                    .isEqualTo(FUNCTION_NOT_SUPPORTED.code());
        }
    }

    @Test
    void shouldReportPendingAttentionsToAQuery() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1, LEVEL_2)) {
            int none = initiator.manage(TaskManagementFunction.QUERY_ASYNCHRONOUS_EVENT,
                    Bhs.NO_TAG);
            assertThat(initiator.managed(none)).isEqualTo(FUNCTION_COMPLETE.code());
            assertThat(query(initiator, TaskManagementFunction.LOGICAL_UNIT_RESET, Bhs.NO_TAG))
                    .isZero();

            initiator.manage(TaskManagementFunction.QUERY_ASYNCHRONOUS_EVENT, Bhs.NO_TAG);
            RawInitiator.Received answer = initiator.receive();

            assertThat(answer.bhs().int8(TaskManagementResponse.RESPONSE))
                    .isEqualTo(FUNCTION_SUCCEEDED.code());
            // UADE DEPTH 1 and the sense key, then the codes
            assertThat(answer.bhs().int32(TaskManagementResponse.ADDITIONAL_INFORMATION))
                    .isEqualTo(0x16_29_03_00);
            assertThat(initiator.command(new byte[6], 0).sense()).isEqualTo(RESET);
        }
    }

    @Test
    void shouldResetOneNexusAlone() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1, LEVEL_2);
                var other = target.ready(2)) {
            target.device.shut(2);
            one.write(0, blocks(1, 1));
            other.write(1, blocks(1, 1));
            target.device.awaitArrivals();
            int reset = one.manage(TaskManagementFunction.I_T_NEXUS_RESET, Bhs.NO_TAG);
            one.assertSilent();
            target.device.open();

            assertThat(one.managed(reset)).isEqualTo(FUNCTION_COMPLETE.code());
            assertThat(one.command(new byte[6], 0).sense()).isEqualTo(NEXUS_LOSS);
            assertThat(one.takeAttentions()).isZero();
            assertThat(other.receive().status()).isEqualTo(Status.GOOD);
            assertThat(other.takeAttentions()).isZero();
        }
    }

    @Test
    void shouldRestoreModePagesOnReset() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            byte[] select = {0x15, 0x10, 0, 0, 16, 0};
            byte[] sense = {0x1a, 8, 0x0a, 0, (byte) 0xff, 0};
            byte[] before = initiator.command(sense, 255).data();
            byte[] descriptorSense = Arrays.copyOf(before, 16);
            Arrays.fill(descriptorSense, 0, 4, (byte) 0);
            descriptorSense[4] = 0x0a; // without PS
            descriptorSense[6] |= 4;
            initiator.write(initiator.newTag(), initiator.useCmdSn(), select, descriptorSense, 16,
                    true);
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
            assertThat(initiator.command(sense, 255).data()).isNotEqualTo(before);

            assertThat(query(initiator, TaskManagementFunction.LOGICAL_UNIT_RESET, Bhs.NO_TAG))
                    .isZero();
            initiator.takeAttentions();

            assertThat(initiator.command(sense, 255).data()).isEqualTo(before);
        }
    }

    @Test
    void shouldDropAllSessionsAfterAColdReset() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1);
                var other = target.ready(2)) {
            int reset = one.manage(TaskManagementFunction.TARGET_COLD_RESET, Bhs.NO_TAG);
            assertThat(one.managed(reset)).isEqualTo(FUNCTION_COMPLETE.code());

            for (RawInitiator each : new RawInitiator[]{one, other}) {
                assertThat(event(each)).isEqualTo(AsyncEvent.SESSION_DROP.code());
                assertThat(each.isClosedByTarget()).isTrue();
            }
            try (var again = target.ready(1)) {
                again.assertSilent();
            }
        }
    }

    @Test
    void shouldResetEveryUnitAndKeepSessionsWithAWarmReset() throws Exception {
        try (var target = new TargetFixture(TargetFixture.LIMITS, 1);
                var one = target.ready(1);
                var other = target.ready(2)) {
            assertThat(query(one, TaskManagementFunction.TARGET_WARM_RESET, Bhs.NO_TAG)).isZero();

            for (RawInitiator each : new RawInitiator[]{one, other}) {
                assertThat(each.command(new byte[6], 0).sense()).isEqualTo(RESET);
            }
            int absent = one.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, Lun.of(7),
                    Bhs.NO_TAG, one.cmdSn(), 0);
            assertThat(one.managed(absent)).isEqualTo(LUN_DOES_NOT_EXIST.code());
        }
    }

    @Test
    void shouldReportAbortedTasksToOtherSessionWithFastAbort() throws Exception {
        try (var target = new TargetFixture();
                var one = target.ready(1);
                var other = target.ready(2, "TaskReporting=FastAbort,RFC3720")) {
            target.device.shut(1);
            other.write(0, blocks(1, 1));
            target.device.awaitArrivals();
            int reset = one.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, Bhs.NO_TAG);

            assertThat(event(other)).isEqualTo(AsyncEvent.TASK_TERMINATION.code());
            target.device.open();
            assertThat(one.managed(reset)).isEqualTo(FUNCTION_COMPLETE.code());
        }
    }

    @Test
    void shouldRequestLogoutBeforeItShutsDown() throws Exception {
        var target = new TargetFixture();
        try (var initiator = target.ready(1)) {
            var down = CompletableFuture
                    .runAsync(() -> target.server.shutDown(Duration.ofSeconds(300)));
            RawInitiator.Received asked = initiator.receive();
            assertThat(asked.opcode()).isEqualTo(AsyncMessage.OPCODE);
            assertThat(asked.bhs().int8(AsyncMessage.ASYNC_EVENT))
                    .isEqualTo(AsyncEvent.LOGOUT_REQUEST.code());
            assertThat(asked.bhs().int16(AsyncMessage.PARAMETER3)).isEqualTo(300);
            assertThat(initiator.read(0, 1)).isEqualTo(blocks(1, 0)); // still served
            assertThat(down).isNotDone();

            initiator.logout();

            assertThat(initiator.receive().opcode()).isEqualTo(LogoutResponse.OPCODE);
            down.join();
        } finally {
            target.close();
        }
    }

    @Test
    void shouldDropSessionsThatDoNotLogOut() throws Exception {
        var target = new TargetFixture();
        try (var initiator = target.ready(1)) {
            target.server.shutDown(Duration.ofMillis(50));

            assertThat(event(initiator)).isEqualTo(AsyncEvent.LOGOUT_REQUEST.code());
            assertThat(initiator.isClosedByTarget()).isTrue();
        } finally {
            target.close();
        }
    }

    private static int event(RawInitiator initiator) throws IOException {
        RawInitiator.Received message = initiator.receive();
        assertThat(message.opcode()).isEqualTo(AsyncMessage.OPCODE);
        return message.bhs().int8(AsyncMessage.ASYNC_EVENT);
    }

    private static int query(RawInitiator initiator, TaskManagementFunction function, int tag)
            throws IOException {
        return initiator.managed(initiator.manage(function, tag));
    }
}
