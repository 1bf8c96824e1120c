package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.target.ScsiTask;
import lunar.testkit.echo.EchoSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a device type that runs the work of its commands on threads of its own ({@link ScsiTask#work}). */
@Timeout(600)
class ExecutorWorkTest {
    private static final Lun UNIT = Lun.of(1);

    private final AtomicInteger worked = new AtomicInteger();
    private CountDownLatch hold = new CountDownLatch(0);

    private TargetFixture serve(Executor executor) throws Exception {
        var target = new TargetFixture();
        var _ = target.server.update(target.server.spec(RawInitiator.TARGET).orElseThrow()
                .withLun(1, new WorkingSpec(EchoSpec.of("worker"), executor, false, worked, hold)));
        return target;
    }

    private static RawInitiator ready(TargetFixture target) throws Exception {
        RawInitiator initiator = target.ready(1);
        while (initiator.command(UNIT, new byte[6], 0).status() != Status.GOOD) { // power on
        }
        return initiator;
    }

    private static int send(RawInitiator initiator) throws Exception {
        return initiator.send(UNIT, new WorkingSpec.WorkCdb().bytes(), new byte[0], 0);
    }

    private static void abort(RawInitiator initiator, int task) throws Exception {
        int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, UNIT, task,
                initiator.cmdSn(), 0);
        assertThat(initiator.managed(abort)).as("function complete").isZero();
    }

    @Test
    void shouldWorkOnTheExecutor() throws Exception {
        BlockingQueue<Runnable> waiting = new LinkedBlockingQueue<>();
        try (var target = serve(waiting::add); var initiator = ready(target)) {
            int _ = send(initiator);
            Runnable work = waiting.take();
            initiator.assertSilent();
            assertThat(worked).hasValue(0);
            work.run();
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
            assertThat(worked).hasValue(1);
        }
    }

    @Test
    void shouldEndWithBusyIfTheExecutorIsFull() throws Exception {
        try (var target = serve(_ -> {
            throw new RejectedExecutionException();
        }); var initiator = ready(target)) {
            int _ = send(initiator);
            assertThat(initiator.receive().status()).isEqualTo(Status.BUSY);
            assertThat(initiator.command(UNIT, new byte[6], 0).status()).isEqualTo(Status.GOOD);
        }
        assertThat(worked).hasValue(0);
    }

    /** The abort does not wait for the commands before it in the queue of the executor. */
    @Test
    void shouldAbortWorkThatWaitsForTheExecutor() throws Exception {
        BlockingQueue<Runnable> waiting = new LinkedBlockingQueue<>();
        try (var target = serve(waiting::add); var initiator = ready(target)) {
            int task = send(initiator);
            Runnable work = waiting.take();
            abort(initiator, task);
            work.run(); // its turn comes later
            initiator.assertSilent();
            assertThat(initiator.command(UNIT, new byte[6], 0).status()).isEqualTo(Status.GOOD);
        }
        assertThat(worked).hasValue(0);
    }

    @Test
    void shouldWaitForAbortedWorkThatHasBegun() throws Exception {
        var mayEnd = new CountDownLatch(1);
        hold = mayEnd;
        try (var target = serve(work -> Thread.ofPlatform().daemon().start(work));
                var initiator = ready(target)) {
            int task = send(initiator);
            TargetFixture.await("work begins", () -> worked.get() == 1);
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, UNIT, task,
                    initiator.cmdSn(), 0);
            initiator.assertSilent();
            mayEnd.countDown();
            assertThat(initiator.managed(abort)).as("function complete").isZero();
            initiator.assertSilent();
        }
    }
}
