package lunar.target;

import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_COMPLETE;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import lunar.block.BlockRequest;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;

/**
 * Tests a device that does not complete a command: an abort completes within a bound, and no effect is visible
 * afterwards.
 */
class TargetFenceTest {
    private static final int SERVICE_UNAVAILABLE = 0x0301;
    private static final int HUNG = 4;

    @Test
    void shouldCompleteAbortWithinBoundAndFenceTheBlocks() throws Exception {
        try (var target = fixture(); var one = target.ready(1); var other = target.ready(2)) {
            int write = hang(target, one);
            int abort = one.manage(TaskManagementFunction.ABORT_TASK, write);
            assertThat(one.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());

            for (RawInitiator each : List.of(one, other)) {
                assertThat(readStatus(each, HUNG, 1)).isEqualTo(Status.BUSY);
                assertThat(readStatus(each, HUNG - 1, 2)).isEqualTo(Status.BUSY);
                assertThat(writeStatus(each, HUNG, 0xbb)).isEqualTo(Status.BUSY);
                assertThat(each.read(HUNG + 1, 2)).isEqualTo(blocks(2, 0));
                assertThat(writeStatus(each, HUNG - 1, 0xcc)).isEqualTo(Status.GOOD);
            }
            target.device.open();

            TargetFixture.await("memory comes back", () -> target.server.bufferBytesInUse() == 0);
            assertThat(one.read(HUNG, 1)).isEqualTo(blocks(1, 0xaa));
            writeOnceUnfenced(other, HUNG, 0xbb);
            assertThat(one.read(HUNG, 1)).isEqualTo(blocks(1, 0xbb));
            one.assertSilent();
        }
    }

    @Test
    void shouldNotFenceForReads() throws Exception {
        try (var target = fixture(); var initiator = target.ready(1)) {
            target.device.shut(1, request -> request.operation() == BlockRequest.Operation.READ);
            int read = initiator.send(RawInitiator.readCdb(HUNG, 1), 512);
            target.device.awaitArrivals();
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, read);
            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());

            assertThat(writeStatus(initiator, HUNG, 0xbb)).isEqualTo(Status.GOOD);
            target.device.open();
            TargetFixture.await("memory comes back", () -> target.server.bufferBytesInUse() == 0);
            initiator.assertSilent();
        }
    }

    @Test
    void shouldFenceWhatACommandOfManyStepsHasUsedAndEndIt() throws Exception {
        try (var target = fixture(); var one = target.ready(1); var other = target.ready(2)) {
            target.device.shut(1, request -> request.operation() == BlockRequest.Operation.READ
                    && request.lba() == HUNG);
            byte[] or = ByteBuffer.allocate(16).put((byte) 0x8b).put((byte) 0).putLong(HUNG)
                    .putInt(1).array();
            int itt = one.newTag();
            one.write(itt, one.useCmdSn(), or, blocks(1, 0xaa), 512, true);
            target.device.awaitArrivals();
            int abort = one.manage(TaskManagementFunction.ABORT_TASK, itt);
            assertThat(one.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());

            assertThat(writeStatus(other, 0, 0xbb)).isEqualTo(Status.BUSY);
            target.device.open();
            TargetFixture.await("memory comes back", () -> target.server.bufferBytesInUse() == 0);

            writeOnceUnfenced(other, 0, 0xbb);
            assertThat(one.read(HUNG, 1)).isEqualTo(blocks(1, 0)); // its write never began
        }
    }

    @Test
    void shouldCompleteResetOfHungUnitWithinBound() throws Exception {
        TargetFixture.withTimeout(100, 8_000, TargetFenceTest::resetHungUnit);
    }

    private static void resetHungUnit(long abortMs) throws Exception {
        try (var target = fixture(abortMs);
                var one = target.ready(1);
                var other = target.ready(2)) {
            hang(target, other);
            int reset = one.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, Bhs.NO_TAG);

            assertThat(one.managed(reset)).isEqualTo(FUNCTION_COMPLETE.code());
            assertThat(one.takeAttentions()).isOne();
            assertThat(writeStatus(one, HUNG, 0xbb)).isEqualTo(Status.BUSY);
        }
    }

    @Test
    void shouldLogOutWithinBound() throws Exception {
        TargetFixture.withTimeout(100, 8_000, TargetFenceTest::logOutWhileUnitHangs);
    }

    private static void logOutWhileUnitHangs(long abortMs) throws Exception {
        try (var target = fixture(abortMs); var initiator = target.ready(1)) {
            hang(target, initiator);
            initiator.logout();

            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.opcode()).isEqualTo(LogoutResponse.OPCODE);
            assertThat(answer.bhs().int8(LogoutResponse.RESPONSE)).isZero();
        }
    }

    @Test
    void shouldReinstateSessionWithinBoundAndKeepItsWritesApart() throws Exception {
        TargetFixture.withTimeout(100, 8_000, TargetFenceTest::reinstateWhileUnitHangs);
    }

    private static void reinstateWhileUnitHangs(long abortMs) throws Exception {
        try (var target = fixture(abortMs); var old = target.ready(1)) {
            hang(target, old);
            try (var fresh = target.ready(1)) { // its login ends the old session
                assertThat(writeStatus(fresh, HUNG, 0xbb)).isEqualTo(Status.BUSY);
                target.device.open();
                TargetFixture.await("memory comes back",
                        () -> target.server.bufferBytesInUse() == 0);

                writeOnceUnfenced(fresh, HUNG, 0xbb);
                assertThat(fresh.read(HUNG, 1)).isEqualTo(blocks(1, 0xbb));
            }
        }
    }

    /** More hung writes than are fenced: those beyond may still change blocks, so no session takes their place. */
    @Test
    void shouldNotReinstateASessionWhoseWritesCanNeitherEndNorBeFenced() throws Exception {
        int each = 100;
        int sessions = 1024 / each + 1; // as many as FencedDevice fences
        try (var target = fixture()) {
            target.device.shut(sessions * each,
                    request -> request.operation() == BlockRequest.Operation.WRITE);
            for (int i = 1; i <= sessions; i++) {
                try (var hung = target.ready(i)) {
                    for (int k = 0; k < each; k++) {
                        hung.write((long) each * (i - 1) + k, blocks(1, i));
                    }
                    TargetFixture.await("writes", hangs(target, i * each));
                }
                if (i < sessions) {
                    TargetFixture.await("all are left behind",
                            () -> target.server.sessionCount() == 0);
                }
            }
            try (var refused = new RawInitiator(target.server)) {
                assertThat(refused.login(RawInitiator.isid(sessions)).status())
                        .isEqualTo(SERVICE_UNAVAILABLE);
            }
            try (var refused = new RawInitiator(target.server)) { // nor does the refused login count as the old session
                assertThat(refused.login(RawInitiator.isid(sessions)).status())
                        .isEqualTo(SERVICE_UNAVAILABLE);
            }
            target.device.open();
            TargetFixture.await("memory comes back", () -> target.server.bufferBytesInUse() == 0);
            try (var fresh = target.ready(sessions)) {
                assertThat(fresh.read((long) each * (sessions - 1), 1))
                        .isEqualTo(blocks(1, sessions));
            }
        }
    }

    private static BooleanSupplier hangs(TargetFixture target, int count) {
        return () -> target.device.waitingCount() == count;
    }

    /** A write that the device does not end. */
    private static int hang(TargetFixture target, RawInitiator initiator) throws Exception {
        target.device.shut(1, request -> request.operation() == BlockRequest.Operation.WRITE
                && request.lba() == HUNG);
        int write = initiator.write(HUNG, blocks(1, 0xaa));
        target.device.awaitArrivals();
        return write;
    }

    private static Status readStatus(RawInitiator initiator, long lba, int count)
            throws IOException {
        initiator.send(RawInitiator.readCdb(lba, count), count * 512);
        RawInitiator.Received answer = initiator.receive();
        assertThat(answer.opcode()).isNotEqualTo(DataIn.OPCODE);
        return answer.status();
    }

    /** Writes when the fence is lifted, which happens a little after the memory of the fenced command is back. */
    private static void writeOnceUnfenced(RawInitiator initiator, long lba, int value)
            throws IOException {
        Status status = writeStatus(initiator, lba, value);
        for (int tries = 1; status == Status.BUSY && tries < 10_000; tries++) {
            LockSupport.parkNanos(1_000_000);
            status = writeStatus(initiator, lba, value);
        }
        assertThat(status).isEqualTo(Status.GOOD);
    }

    private static Status writeStatus(RawInitiator initiator, long lba, int value)
            throws IOException {
        initiator.write(Lun.ZERO, lba, blocks(1, value));
        return initiator.receive().status();
    }

    private static TargetFixture fixture() throws IOException { return fixture(100); }

    private static TargetFixture fixture(long abortMs) throws IOException {
        return new TargetFixture(TargetFixture.limits(600_000, 600_000, abortMs));
    }
}
