package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import lunar.block.AbortedException;
import lunar.block.MediumException;
import lunar.initiator.internal.retry.RetryPolicy;
import lunar.initiator.scsi.ScsiUnit;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.block.CompareAndWrite;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.SupportedVpdPages;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;

/** Tests that failed commands are retried where that is safe and useful: see {@link RetryPolicy}. */
class RetriedCommandsTest {
    private static final BlockLimits LIMITS = new BlockLimits(false, 1, 0, 0, 0, 0, 0, 0, 0,
            OptionalLong.empty(), 0, 0);

    private static final ScriptedDisk.Hook ATTENTION = sense(SenseKey.UNIT_ATTENTION,
            AdditionalSense.ASYMMETRIC_ACCESS_STATE_CHANGED);
    private static final ScriptedDisk.Hook TRANSITION = sense(SenseKey.NOT_READY,
            AdditionalSense.ASYMMETRIC_ACCESS_STATE_TRANSITION);
    private static final ScriptedDisk.Hook BUSY = status(Status.BUSY);
    private static final ScriptedDisk.Hook ABORTED_COMMAND = sense(SenseKey.ABORTED_COMMAND,
            AdditionalSense.NONE);
    private static final ScriptedDisk.Hook TASK_ABORTED = status(Status.TASK_ABORTED);
    private static final ScriptedDisk.Hook TERMINATED = (peer, command, _) -> {
        peer.send(new AsyncMessage(command.lun(), peer.statSn(), peer.expCmdSn(),
                peer.maxCmdSn(), AsyncEvent.TASK_TERMINATION.code(), 0, 0, 0, 0));
        return true;
    };

    /** Outcomes of the commands of a test in order; afterwards all succeed. */
    private final Queue<ScriptedDisk.Hook> answers = new ArrayDeque<>();
    private final AtomicInteger asked = new AtomicInteger();
    private final ScriptedDisk disk = new ScriptedDisk();

    private static ScriptedDisk.Hook status(Status status) {
        return (peer, command, _) -> {
            ScriptedDisk.status(peer, command, status);
            return true;
        };
    }

    private static ScriptedDisk.Hook sense(SenseKey key, AdditionalSense additional) {
        return (peer, command, _) -> {
            ScriptedDisk.sense(peer, command, Sense.of(key, additional));
            return true;
        };
    }

    private boolean handled(ScriptedPeer peer, ScsiCommand command, Cdb cdb) throws Exception {
        switch (cdb) {
            case Inquiry inquiry when inquiry.evpd() && inquiry.page() == 0 -> ScriptedDisk
                    .data(peer, command, new SupportedVpdPages(List.of(0, BlockLimits.CODE)),
                            inquiry.allocationLength());
            case Inquiry inquiry when inquiry.evpd()
                    && inquiry.page() == BlockLimits.CODE ->
                ScriptedDisk.data(peer, command, LIMITS, inquiry.allocationLength());
            case CompareAndWrite probe when probe.blockCount() == 0 -> ScriptedDisk.status(peer,
                    command, Status.GOOD);
            case ReadBlocks _,WriteBlocks _,SynchronizeCache _,CompareAndWrite _,PersistentReserveOut _ -> {
                asked.incrementAndGet();
                ScriptedDisk.Hook answer = answers.poll();
                if (answer != null) {
                    return answer.handled(peer, command, cdb);
                }
                if (cdb instanceof CompareAndWrite || cdb instanceof PersistentReserveOut) {
                    byte[] _ = disk.receiveWrite(peer, command);
                    ScriptedDisk.status(peer, command, Status.GOOD);
                    return true;
                }
                return false;
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private Loopback loopback() { return new Loopback(peer -> disk.serve(peer, this::handled)); }

    private void answer(ScriptedDisk.Hook... hooks) {
        asked.set(0);
        answers.clear();
        answers.addAll(List.of(hooks));
    }

    /** The target tells of the end of its tasks before it answers (FastAbort, RFC 7143 section 4.2.3.4). */
    @Test
    void shouldNotRepeatWhatThisSessionHasAskedToEnd() throws Exception {
        var arrived = new CountDownLatch(1);
        answer((peer, command, cdb) -> {
            byte[] _ = disk.receiveWrite(peer, command);
            arrived.countDown();
            var manage = peer.receive(TaskManagementRequest.class);
            boolean _ = TERMINATED.handled(peer, command, cdb);
            peer.send(new TaskManagementResponse(
                    TaskManagementResponseCode.FUNCTION_COMPLETE.code(), 0, manage.itt(),
                    peer.statSn(), peer.expCmdSn(), peer.maxCmdSn()));
            return true;
        });
        try (var loopback = loopback(); LunDevice device = loopback.open()) {
            CompletableFuture<Void> write = device.submitWrite(0, Loopback.blocks(1));
            arrived.await();
            assertThat(device.session().start(Exchange.Manage
                    .of(TaskManagementFunction.LOGICAL_UNIT_RESET, device.lun())).await())
                    .isEqualTo(TaskManagementResponseCode.FUNCTION_COMPLETE);
            assertThatThrownBy(write::get).hasCauseInstanceOf(AbortedException.class);
            device.read(0, Loopback.blocks(1));
            assertThat(asked).hasValue(2);
        }
    }

    @Test
    void shouldOutlastALongTransitionAndTheAttentionAfterIt() throws Exception {
        answer(Stream.concat(Collections.nCopies(9, TRANSITION).stream(), Stream.of(ATTENTION))
                .toArray(ScriptedDisk.Hook[]::new));
        try (var loopback = loopback(); LunDevice device = loopback.open()) {
            device.read(0, Loopback.blocks(1));
            assertThat(asked).hasValue(11);
        }
    }

    @Test
    void shouldCountConsecutiveUnitAttentionsOnly() throws Exception {
        answer(Stream.generate(() -> List.of(ATTENTION, ATTENTION, ATTENTION, BUSY)).limit(4)
                .flatMap(List::stream).toArray(ScriptedDisk.Hook[]::new));
        try (var loopback = loopback(); LunDevice device = loopback.open()) {
            device.read(0, Loopback.blocks(1));
            assertThat(asked).hasValue(17);
        }
    }

    @Test
    void shouldRetryCommandsAbortedByAnotherHostsReset() throws Exception {
        for (ScriptedDisk.Hook aborted : List.of(ABORTED_COMMAND, TASK_ABORTED, TERMINATED)) {
            try (var loopback = loopback(); LunDevice device = loopback.open()) {
                MemorySegment written = Loopback.blocks(2).fill((byte) 7);
                answer(aborted, ATTENTION, aborted);
                device.write(4, written);
                assertThat(asked).hasValue(4);
                answer(aborted, aborted);
                MemorySegment read = Loopback.blocks(2);
                device.read(4, read);
                assertThat(read.mismatch(written)).isEqualTo(-1);
                answer(aborted);
                device.flush();
                assertThat(asked).hasValue(2);
            }
        }
    }

    @Test
    void shouldNotRetryAbortedCommandsForever() throws Exception {
        for (ScriptedDisk.Hook aborted : List.of(ABORTED_COMMAND, TASK_ABORTED)) {
            answer(Collections.nCopies(100, aborted).toArray(ScriptedDisk.Hook[]::new));
            try (var loopback = loopback(); LunDevice device = loopback.open()) {
                assertThatThrownBy(() -> device.read(0, Loopback.blocks(1)))
                        .isInstanceOf(AbortedException.class);
                assertThat(asked).hasValue(1 + RetryPolicy.MAX_ABORTS);
            }
        }
    }

    /** It may have been done: done twice, it would fail to find what it has replaced itself. */
    @Test
    void shouldNotRetryACompareAndWriteThatMayHaveBeenExecuted() throws Exception {
        for (ScriptedDisk.Hook aborted : List.of(ABORTED_COMMAND, TASK_ABORTED, TERMINATED)) {
            try (var loopback = loopback(); LunDevice device = loopback.open()) {
                answer(aborted);
                assertThatThrownBy(() -> device.compareAndWrite(0, Loopback.blocks(2)))
                        .isInstanceOf(AbortedException.class);
                assertThat(asked).hasValue(1);
            }
        }
    }

    @Test
    void shouldRetryACompareAndWriteThatWasNotExecuted() throws Exception {
        answer(ATTENTION, BUSY, TRANSITION);
        try (var loopback = loopback(); LunDevice device = loopback.open()) {
            device.compareAndWrite(0, Loopback.blocks(2));
            assertThat(asked).hasValue(4);
        }
    }

    @Test
    void shouldNotRetryPermanentFailures() throws Exception {
        for (ScriptedDisk.Hook failed : List.of(
                sense(SenseKey.ABORTED_COMMAND, AdditionalSense.GUARD_CHECK_FAILED),
                sense(SenseKey.MEDIUM_ERROR, AdditionalSense.WRITE_ERROR))) {
            answer(failed, failed);
            try (var loopback = loopback(); LunDevice device = loopback.open()) {
                assertThatThrownBy(() -> device.write(0, Loopback.blocks(1)))
                        .isInstanceOfAny(AbortedException.class, MediumException.class);
                assertThat(asked).hasValue(1);
            }
        }
    }

    @Test
    void shouldNotRetryAReservationThatMayHaveBeenMade() throws Exception {
        try (var loopback = loopback(); Session session = loopback.login()) {
            ScsiUnit unit = ScsiUnit.of(session, Lun.ZERO);
            answer(ATTENTION, BUSY);
            unit.reservations().register(0xbeef);
            assertThat(asked).hasValue(3);
            answer(TASK_ABORTED);
            assertThatThrownBy(() -> unit.reservations().register(0xbeef))
                    .isInstanceOf(AbortedException.class);
            assertThat(asked).hasValue(1);
        }
    }
}
