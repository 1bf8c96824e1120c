package lunar.target;

import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_REJECTED;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockRequest;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Status;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.ReserveOutParameters;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitSpec;
import lunar.scsi.target.block.DiskSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that a rejected function is not performed (RFC 7143 section 11.6.1): the commands that it names complete. */
@Timeout(600)
class RejectedFunctionTest {
    private static final int ABORTED_COMMAND = 0x0b_00_00;
    private static final int NO_UNIT = 0x05_25_00;

    /** Does not save anything until it is opened, as a disk that hangs: not a device that could be fenced. */
    private static final class HungStore implements StateStore, AutoCloseable {
        final CountDownLatch arrived = new CountDownLatch(1);
        final CountDownLatch opened = new CountDownLatch(1);

        @Override
        public Optional<byte[]> load(String name) { return Optional.empty(); }

        @Override
        public void save(String name, byte[] state) throws IOException {
            arrived.countDown();
            try {
                opened.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        @Override
        public boolean isPersistent() { return true; }

        @Override
        public void close() { opened.countDown(); }
    }

    private static int register(RawInitiator initiator, HungStore store) throws Exception {
        int itt = initiator.newTag();
        initiator.write(itt, initiator.useCmdSn(),
                new PersistentReserveOut(PersistentReserveOut.REGISTER, 0, 0, 24).bytes(),
                new ReserveOutParameters(0, 7, false, false, true, List.of()).bytes(), 24,
                true);
        store.arrived.await();
        return itt;
    }

    private static TargetServer serve(UnitSpec unit) throws IOException { return serve(unit, 100); }

    private static TargetServer serve(UnitSpec unit, long abortMs) throws IOException {
        return TargetServer.builder().portal("127.0.0.1", 0)
                .limits(TargetFixture.limits(600_000, 600_000, abortMs))
                .target(TargetSpec.of(RawInitiator.TARGET).withLun(0, unit)).start();
    }

    @Test
    void shouldAnswerCommandWhoseAbortWasRejected() throws Exception {
        var store = new HungStore();
        try (var device = new GatedDevice("ram:1MiB");
                var server = serve(DiskSpec.of(device).withState(store));
                var initiator = RawInitiator.ready(server, 1)) {
            int command = register(initiator, store);
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, command);
            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_REJECTED.code());

            store.opened.countDown();
            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.bhs().itt()).isEqualTo(command);
            assertThat(answer.sense()).isEqualTo(ABORTED_COMMAND);
            initiator.assertSilent();
        }
    }

    /**
     * Of three commands, the first ended when aborted, the second was detached from the device, and the third does not
     * end.
     */
    @Test
    void shouldAnswerAllCommandsOfASetWhoseAbortWasRejected() throws Exception {
        var store = new HungStore();
        try (var device = new GatedDevice("ram:1MiB");
                var server = serve(DiskSpec.of(device).withState(store));
                var initiator = RawInitiator.ready(server, 1)) {
            int stuck = register(initiator, store);
            device.shut(1, request -> request.operation() == BlockRequest.Operation.WRITE);
            int hung = initiator.write(8, blocks(1, 1));
            device.awaitArrivals();
            int waiting = initiator.newTag(); // for its data
            initiator.write(waiting, initiator.useCmdSn(), RawInitiator.writeCdb(0, 1),
                    new byte[0], 512, true);
            initiator.receive(); // the R2T

            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK_SET, Bhs.NO_TAG);
            Map<Integer, Integer> told = new HashMap<>();
            RawInitiator.Received answer = initiator.receive();
            while (answer.opcode() == ScsiResponse.OPCODE) {
                told.put(answer.bhs().itt(), answer.sense());
                answer = initiator.receive();
            }
            assertThat(answer.bhs().itt()).isEqualTo(abort);
            assertThat(told).isEqualTo(Map.of(hung, ABORTED_COMMAND, waiting, ABORTED_COMMAND));
            device.open();
            store.opened.countDown();
            answer = initiator.receive();
            assertThat(answer.bhs().itt()).isEqualTo(stuck);
            assertThat(answer.status()).isEqualTo(Status.CHECK_CONDITION);
            initiator.assertSilent();
            TargetFixture.await("memory comes back", () -> server.bufferBytesInUse() == 0);
        }
    }

    /** The unit is taken away meanwhile, which is told to a command that ends; the rejection adds nothing to that. */
    @Test
    void shouldAnswerOnceCommandsThatEndedBeforeTheRejection() throws Exception {
        TargetFixture.withTimeout(2_000, 12_000, RejectedFunctionTest::endBeforeTheRejection);
    }

    private static void endBeforeTheRejection(long abortMs) throws Exception {
        var store = new HungStore();
        try (var device = new GatedDevice("ram:1MiB");
                var server = serve(DiskSpec.of(device).withState(store), abortMs);
                var initiator = RawInitiator.ready(server, 1);
                store) {
            int stuck = register(initiator, store);
            device.shut(1, request -> request.operation() == BlockRequest.Operation.WRITE);
            int ended = initiator.write(8, blocks(1, 1));
            device.awaitArrivals();
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK_SET, Bhs.NO_TAG);
            initiator.assertSilent();
            var gone = server.update(TargetSpec.of(RawInitiator.TARGET));
            device.open();
            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.bhs().itt()).isEqualTo(ended);
            assertThat(answer.sense()).isEqualTo(NO_UNIT);

            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_REJECTED.code());
            store.opened.countDown();
            answer = initiator.receive();
            assertThat(answer.bhs().itt()).isEqualTo(stuck);
            assertThat(answer.sense()).isEqualTo(NO_UNIT);
            initiator.assertSilent();
            gone.get(120, TimeUnit.SECONDS);
        }
    }

    /** A function that succeeds after one that was rejected: the command is not answered any longer. */
    @Test
    void shouldNotAnswerCommandThatIsAbortedAfterAll() throws Exception {
        TargetFixture.withTimeout(2_000, 12_000, RejectedFunctionTest::abortAgain);
    }

    private static void abortAgain(long abortMs) throws Exception {
        var store = new HungStore();
        try (var device = new GatedDevice("ram:1MiB");
                // Twice this time has the second function to succeed.
                var server = serve(DiskSpec.of(device).withState(store), abortMs);
                var initiator = RawInitiator.ready(server, 1);
                store) {
            int command = register(initiator, store);
            int first = initiator.manage(TaskManagementFunction.ABORT_TASK, command);
            assertThat(initiator.managed(first)).isEqualTo(FUNCTION_REJECTED.code());
            int again = initiator.manage(TaskManagementFunction.ABORT_TASK, command);
            initiator.assertSilent();
            store.opened.countDown();
            assertThat(initiator.managed(again)).isZero();
            initiator.assertSilent();
        }
    }
}
