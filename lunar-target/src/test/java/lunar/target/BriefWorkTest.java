package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.target.ScsiTask;
import lunar.testkit.echo.EchoSpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests commands whose work their loop may run itself ({@link ScsiTask#workBriefly}), and that hang nevertheless. */
@Timeout(600)
class BriefWorkTest {
    private static final Lun UNIT = Lun.of(1);

    private final AtomicInteger worked = new AtomicInteger();
    private final CountDownLatch hold = new CountDownLatch(1);
    private final LinkedBlockingQueue<Runnable> executed = new LinkedBlockingQueue<>();

    @AfterEach
    void end() { hold.countDown(); }

    private TargetFixture serve() throws Exception { return serve(new TargetFixture()); }

    private TargetFixture serve(TargetFixture target) throws Exception {
        var _ = target.server.update(target.server.spec(RawInitiator.TARGET).orElseThrow()
                .withLun(1, new WorkingSpec(EchoSpec.of("worker"), executed::add, true, worked,
                        hold)));
        return target;
    }

    private static RawInitiator ready(TargetFixture target, int qualifier) throws Exception {
        RawInitiator initiator = target.ready(qualifier);
        while (testUnitReady(initiator) != Status.GOOD) { // power on
        }
        return initiator;
    }

    private static Status testUnitReady(RawInitiator initiator) throws Exception {
        return initiator.command(UNIT, new byte[6], 0).status();
    }

    private static int send(RawInitiator initiator) throws Exception {
        return initiator.send(UNIT, new WorkingSpec.WorkCdb().bytes(), new byte[0], 0);
    }

    /** Sends a command that hangs on the loop. */
    private int hang(RawInitiator initiator) throws Exception {
        int task = send(initiator);
        TargetFixture.await("work begins", () -> worked.get() == 1);
        return task;
    }

    @Test
    void shouldRunWorkWithoutTheExecutor() throws Exception {
        hold.countDown();
        try (var target = serve(); var initiator = ready(target, 1)) {
            int _ = send(initiator);
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
        }
        assertThat(worked).hasValue(1);
        assertThat(executed).isEmpty();
    }

    @Test
    void shouldServeItsAndOtherSessionsWhileWorkHangs() throws Exception {
        try (var target = serve(); var initiator = ready(target, 1); var other = ready(target, 2)) {
            int _ = hang(initiator);
            assertThat(testUnitReady(other)).isEqualTo(Status.GOOD);
            assertThat(testUnitReady(initiator)).isEqualTo(Status.GOOD);
            try (var third = ready(target, 3)) {
                assertThat(testUnitReady(third)).isEqualTo(Status.GOOD);
            }
            hold.countDown();
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldLeaveFurtherWorkToTheExecutorWhileWorkHangs() throws Exception {
        try (var target = serve(); var initiator = ready(target, 1)) {
            int _ = hang(initiator);
            int _ = send(initiator);
            Runnable second = executed.poll(120, TimeUnit.SECONDS);
            assertThat(second).isNotNull();
            hold.countDown();
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
            second.run();
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldAnswerAnAbortWhenWorkThatHangsHasEnded() throws Exception {
        try (var target = serve(); var initiator = ready(target, 1)) {
            int task = hang(initiator);
            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, UNIT, task,
                    initiator.cmdSn(), 0);
            initiator.assertSilent();
            hold.countDown();
            assertThat(initiator.managed(abort)).as("function complete").isZero();
            initiator.assertSilent();
        }
    }

    @Test
    void shouldCloseTheServerWhileWorkHangs() throws Exception {
        var target = serve(new TargetFixture(TargetFixture.limits(600_000, 600_000, 200)));
        try (var initiator = ready(target, 1)) {
            int _ = hang(initiator);
            target.server.close();
            assertThat(hold.getCount()).isOne();
        }
    }
}
