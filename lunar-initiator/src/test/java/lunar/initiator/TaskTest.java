package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import lunar.block.AbortedException;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.iscsi.pdu.TextRequest;
import lunar.iscsi.pdu.TextResponse;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.primary.TestUnitReady;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests exchanges as tasks: waiting, cancellation on the wire, many at once, and Asynchronous Messages meanwhile. */
@Timeout(120)
class TaskTest {
    private static Exchange.Scsi read(MemorySegment buffer) {
        return Exchange.Scsi.reading(Lun.ZERO, Bytes.of(
                ReadBlocks.of(0, buffer.byteSize() / ScriptedDisk.BLOCK_SIZE).bytes()), buffer);
    }

    private static Exchange.Scsi ready() {
        return Exchange.Scsi.writing(Lun.ZERO, Bytes.of(new TestUnitReady().bytes()),
                MemorySegment.NULL);
    }

    private static TaskManagementRequest answer(ScriptedPeer peer, TaskManagementFunction expected,
            TaskManagementResponseCode code) throws Exception {
        var request = peer.receive(TaskManagementRequest.class);
        assertThat(request.knownFunction()).contains(expected);
        peer.send(new TaskManagementResponse(code.code(), 0, request.itt(), peer.statSn(),
                peer.expCmdSn(), peer.maxCmdSn()));
        return request;
    }

    @Test
    void shouldReturnAResultThatCanBeAwaitedAndChained() throws Exception {
        try (var loopback = new Loopback(new ScriptedDisk()::serve);
                Session session = loopback.login()) {
            Task<ScsiResult> task = session.start(read(Loopback.blocks(2)));
            assertThat(task.await().isGood()).isTrue();
            assertThat(task.state()).isEqualTo(Task.State.DONE);
            assertThat(task.await().dataInBytes()).isEqualTo(1024); // as often as one likes
            assertThat(session.start(ready()).future().thenApply(ScsiResult::isGood)
                    .get(60, TimeUnit.SECONDS)).isTrue();
            assertThat(session.start(new Exchange.Ping()).await()).isPositive();
        }
    }

    @Test
    void shouldRunThousandsOfRequestsWithoutAThreadForEach() throws Exception {
        try (var loopback = new Loopback(new ScriptedDisk()::serve).queueDepth(64);
                Session session = loopback.login()) {
            int threads = Thread.activeCount();
            List<Task<ScsiResult>> tasks = IntStream.range(0, 5_000)
                    .mapToObj(_ -> session.start(read(Loopback.blocks(1)))).toList();
            assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads + 4);
            for (Task<ScsiResult> each : tasks) {
                assertThat(each.await().isGood()).isTrue();
            }
        }
    }

    @Test
    void shouldAbortATaskAtTheTargetAndWaitForThat() throws Exception {
        var came = new CountDownLatch(1);
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                came.countDown();
                TaskManagementRequest abort = answer(peer, TaskManagementFunction.ABORT_TASK,
                        TaskManagementResponseCode.FUNCTION_COMPLETE);
                assertThat(abort.referencedTaskTag()).isEqualTo(command.itt());
                assertThat(abort.refCmdSn()).isEqualTo(command.cmdSn());
                return true;
            }
            return false;
        }); Session session = loopback.login()) {
            Task<ScsiResult> task = session.start(read(Loopback.blocks(1)));
            came.await();
            assertThat(task.state()).isEqualTo(Task.State.SENT);
            assertThat(task.cancel().get(60, TimeUnit.SECONDS)).isTrue();
            assertThatThrownBy(task::await).isInstanceOf(AbortedException.class);
            assertThatThrownBy(() -> task.future().get())
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(AbortedException.class);
            assertThat(task.cancel().get(60, TimeUnit.SECONDS)).isTrue(); // stopped it is
            assertThat(session.start(ready()).await().isGood()).isTrue();
        }
    }

    @Test
    void shouldContinueWithATaskThatTheTargetDoesNotAbort() throws Exception {
        var came = new CountDownLatch(1);
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                came.countDown();
                TaskManagementRequest _ = answer(peer, TaskManagementFunction.ABORT_TASK,
                        TaskManagementResponseCode.FUNCTION_REJECTED);
                ScriptedDisk.dataIn(peer, command, new byte[512]);
                return true;
            }
            return false;
        }); Session session = loopback.login()) {
            Task<ScsiResult> task = session.start(read(Loopback.blocks(1)));
            came.await();
            assertThat(task.cancel().get(60, TimeUnit.SECONDS)).isFalse();
            assertThat(task.await().isGood()).isTrue();
        }
    }

    @Test
    void shouldRemoveATaskFromTheQueueSilently() throws Exception {
        var release = new CountDownLatch(1);
        try (var loopback = Loopback.disk((_, _, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                release.await();
            }
            return false; // and whatever comes but commands fails the script
        }).queueDepth(1); Session session = loopback.login()) {
            Task<ScsiResult> first = session.start(read(Loopback.blocks(1)));
            Task<ScsiResult> second = session.start(ready());
            Task<ScsiResult> third = session.start(ready());
            assertThat(second.state()).isEqualTo(Task.State.WAITING);
            assertThat(second.cancel().get(60, TimeUnit.SECONDS)).isTrue();
            release.countDown();
            assertThat(first.await().isGood()).isTrue();
            assertThat(third.await().isGood()).isTrue();
            assertThatThrownBy(second::await).isInstanceOf(AbortedException.class);
        }
    }

    @Test
    void shouldEndATaskAtItsOwnTimeout() throws Exception {
        try (var loopback = Loopback.disk((peer, _, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                TaskManagementRequest _ = answer(peer, TaskManagementFunction.ABORT_TASK,
                        TaskManagementResponseCode.FUNCTION_COMPLETE);
                return true;
            }
            return false;
        }); Session session = loopback.login()) {
            Task<ScsiResult> task = session
                    .start(read(Loopback.blocks(1)).withTimeoutMs(100));
            assertThatThrownBy(task::await).isInstanceOf(DeadlineException.class);
        }
    }

    @Test
    void shouldEndTheTasksOfAUnitThatIsReset() throws Exception {
        var came = new CountDownLatch(1);
        try (var loopback = Loopback.disk((peer, _, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                came.countDown();
                TaskManagementRequest _ = answer(peer, TaskManagementFunction.LOGICAL_UNIT_RESET,
                        TaskManagementResponseCode.FUNCTION_COMPLETE);
                return true;
            }
            return false;
        }); Session session = loopback.login()) {
            Task<ScsiResult> task = session.start(read(Loopback.blocks(1)));
            came.await();
            assertThat(session.start(Exchange.Manage.of(TaskManagementFunction.LOGICAL_UNIT_RESET,
                    Lun.ZERO)).await()).isEqualTo(TaskManagementResponseCode.FUNCTION_COMPLETE);
            assertThatThrownBy(task::await).isInstanceOf(AbortedException.class)
                    .hasMessageContaining("reset");
        }
    }

    @Test
    void shouldAskWhetherATaskIsThere() throws Exception {
        var came = new CountDownLatch(1);
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                came.countDown();
                TaskManagementRequest query = answer(peer, TaskManagementFunction.QUERY_TASK,
                        TaskManagementResponseCode.FUNCTION_SUCCEEDED);
                assertThat(query.referencedTaskTag()).isEqualTo(command.itt());
                ScriptedDisk.dataIn(peer, command, new byte[512]);
                return true;
            }
            return false;
        }); Session session = loopback.login()) {
            Task<ScsiResult> task = session.start(read(Loopback.blocks(1)));
            came.await();
            assertThat(session.start(Exchange.Manage.query(task)).await())
                    .isEqualTo(TaskManagementResponseCode.FUNCTION_SUCCEEDED);
            assertThat(task.await().isGood()).isTrue();
            assertThat(session.start(Exchange.Manage.query(task)).await())
                    .isEqualTo(TaskManagementResponseCode.TASK_DOES_NOT_EXIST);
        }
    }

    @Test
    void shouldRejectBuffersThatOtherThreadsMayNotTouch() throws Exception {
        try (var loopback = new Loopback(new ScriptedDisk()::serve);
                Session session = loopback.login();
                Arena arena = Arena.ofConfined()) {
            Task<ScsiResult> task = session.start(read(arena.allocate(512)));
            assertThatThrownBy(task::await).isInstanceOf(InvalidRequestException.class);
        }
    }

    @Test
    void shouldLogOutAsATask() throws Exception {
        try (var loopback = new Loopback(new ScriptedDisk()::serve);
                Session session = loopback.login()) {
            assertThat(session.start(new Exchange.Logout()).await()).isNull();
            assertThat(session.isOpen()).isFalse();
            assertThatThrownBy(() -> session.start(ready()).await())
                    .isInstanceOf(DeviceGoneException.class);
            assertThatThrownBy(() -> session.start(new Exchange.Ping()).await())
                    .isInstanceOf(DeviceGoneException.class);
        }
    }

    // --- events from the target and their listeners ---

    private static void say(ScriptedPeer peer, AsyncEvent event, byte[] data) throws Exception {
        peer.send(new AsyncMessage(Lun.ZERO, peer.statSn(), peer.expCmdSn(), peer.maxCmdSn(),
                event.code(), 0, 0, 0, 3), data);
    }

    @Test
    void shouldDetectChangedUnits() throws Exception {
        var notices = new ConcurrentLinkedQueue<SessionNotice>();
        var disk = new ScriptedDisk();
        try (var loopback = new Loopback(peer -> disk.serve(peer, (_, _, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                byte[] sense = Sense.of(SenseKey.UNIT_ATTENTION,
                        AdditionalSense.REPORTED_LUNS_DATA_HAS_CHANGED).encodeFixed();
                byte[] data = new byte[2 + sense.length];
                data[1] = (byte) sense.length;
                System.arraycopy(sense, 0, data, 2, sense.length);
                say(peer, AsyncEvent.SCSI_EVENT, data);
            }
            return false;
        }));
                var initiator = Initiator.create(InitiatorOptions.of("iqn.2026-11.org.lunar:ears")
                        .withListener((_, notice) -> notices.add(notice)));
                Session session = initiator.login(loopback.options())) {
            var attentions = new ConcurrentLinkedQueue<AdditionalSense>();
            LunDevice device = session.open(Lun.ZERO);
            device.onAttention(attentions::add);
            device.read(0, Loopback.blocks(1));
            while (!notices.contains(new SessionNotice.LunsChanged()) // told by another thread
                    || !attentions.contains(AdditionalSense.REPORTED_LUNS_DATA_HAS_CHANGED)) {
                Thread.sleep(1);
            }
        }
    }

    @Test
    void shouldEndTasksThatTheTargetSaysItHasEnded() throws Exception {
        try (var loopback = Loopback.disk((peer, _, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                say(peer, AsyncEvent.TASK_TERMINATION, new byte[0]);
                return true;
            }
            return false;
        }); LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(1)))
                    .isInstanceOf(AbortedException.class);
        }
    }

    /** RFC 7143 section 11.9.1, AsyncEvent 5. */
    @Test
    void shouldAcknowledgeThatTheTargetHasEndedTasks() throws Exception {
        Lun lun = Lun.of(3);
        var acknowledged = new CompletableFuture<NopOut>();
        var statSn = new CompletableFuture<Integer>();
        try (var loopback = Loopback.disk((peer, command, _) -> {
            if (!command.lun().equals(lun)) {
                return false;
            }
            statSn.complete(peer.nextStatSn());
            peer.send(new AsyncMessage(lun, peer.statSn(), peer.expCmdSn(), peer.maxCmdSn(),
                    AsyncEvent.TASK_TERMINATION.code(), 0, 0, 0, 0));
            acknowledged.complete(peer.receive(NopOut.class));
            return true;
        }); Session session = loopback.login()) {
            assertThatThrownBy(() -> session.execute(lun, new TestUnitReady().bytes(),
                    MemorySegment.NULL, MemorySegment.NULL))
                    .isInstanceOf(AbortedException.class);
            NopOut said = acknowledged.get(60, TimeUnit.SECONDS);
            assertThat(said.isPing()).isFalse();
            assertThat(said.ttt()).isEqualTo(Bhs.NO_TAG);
            assertThat(said.immediate()).isTrue();
            assertThat(said.lun()).isEqualTo(lun);
            assertThat(said.expStatSn()).isEqualTo(statSn.get() + 1);
            assertThat(session.execute(Lun.ZERO, new TestUnitReady().bytes(), MemorySegment.NULL,
                    MemorySegment.NULL).isGood()).isTrue();
        }
    }

    @Test
    void shouldLetTheTargetDeclareSmallerSegments() throws Exception {
        var lengths = new ArrayList<Integer>();
        var disk = new ScriptedDisk();
        try (var loopback = new Loopback(peer -> disk.serve(peer, (_, command, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                say(peer, AsyncEvent.NEGOTIATION_REQUEST, new byte[0]);
                TextRequest text = peer.receive(TextRequest.class);
                peer.send(new TextResponse(true, false, Lun.ZERO, text.itt(), -1, peer.statSn(),
                        peer.expCmdSn(), peer.maxCmdSn()),
                        "MaxRecvDataSegmentLength=1024\0".getBytes(StandardCharsets.UTF_8));
            } else if (cdb instanceof WriteBlocks) {
                lengths.add(peer.data().length);
                peer.send(disk.r2t(peer, command, 0, 1024, 3072));
                for (int i = 0; i < 3; i++) {
                    DataOut _ = peer.receive(DataOut.class);
                    lengths.add(peer.data().length);
                }
                ScriptedDisk.status(peer, command, Status.GOOD);
                return true;
            }
            return false;
        })); LunDevice device = loopback.open()) {
            device.read(0, Loopback.blocks(1));
            device.write(0, Loopback.blocks(8));
            assertThat(lengths).containsExactly(1024, 1024, 1024, 1024);
        }
    }

    @Test
    void shouldCountCommands() throws Exception {
        record Count(int opcode, int status, long bytes, boolean positive) {}
        var counts = new ConcurrentLinkedQueue<Count>();
        try (var loopback = new Loopback(new ScriptedDisk()::serve);
                var initiator = Initiator.create(InitiatorOptions.of("iqn.2026-11.org.lunar:count")
                        .withMetrics((_, _, opcode, status, bytes, nanos) -> counts
                                .add(new Count(opcode, status, bytes, nanos > 0))));
                Session session = initiator.login(loopback.options())) {
            assertThat(session.start(read(Loopback.blocks(2))).await().isGood()).isTrue();
            assertThat(session.start(ready()).await().isGood()).isTrue();
            assertThat(counts).containsExactly(new Count(0x28, 0, 1024, true),
                    new Count(0x00, 0, 0, true));
        }
    }
}
