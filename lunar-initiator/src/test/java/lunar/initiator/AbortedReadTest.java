package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import lunar.block.AbortedException;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.block.ReadBlocks;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the buffer of a task that is aborted over one connection while another receives its data. */
@Timeout(120)
class AbortedReadTest {
    private static final int BLOCKS = 64;
    private static final int BYTES = BLOCKS * ScriptedDisk.BLOCK_SIZE;
    private static final int PART = 20_000;
    private static final byte CALLERS = 9;
    private static final byte TARGETS = 1;

    private final CountDownLatch reset = new CountDownLatch(1);
    private final AtomicInteger logins = new AtomicInteger();

    private static Exchange.Scsi read(MemorySegment buffer) {
        return Exchange.Scsi.reading(Lun.ZERO, Bytes.of(ReadBlocks
                .of(0, buffer.byteSize() / ScriptedDisk.BLOCK_SIZE).bytes()), buffer);
    }

    /** The second connection of the session brings its first read in two parts, around the reset of the unit. */
    private void serve(ScriptedPeer peer, boolean cut) throws Exception {
        var disk = new ScriptedDisk();
        boolean second = logins.getAndIncrement() == 1;
        var reads = new AtomicInteger();
        peer.login("MaxConnections=2", "DefaultTime2Wait=0", "TargetPortalGroupTag=1");
        disk.serveLoggedIn(peer, (_, command, cdb) -> {
            if (!second || !(cdb instanceof ReadBlocks) || reads.getAndIncrement() > 0) {
                return false;
            }
            byte[] data = new byte[BYTES];
            Arrays.fill(data, TARGETS);
            byte[] pdu = peer.encode(new DataIn(true, false, false, 0, Residual.NONE,
                    command.lun(), command.itt(), Bhs.NO_TAG, 0, peer.expCmdSn(), peer.maxCmdSn(),
                    0, 0), data);
            peer.sendBytes(Arrays.copyOf(pdu, PART));
            reset.await();
            if (cut) {
                peer.cut();
                throw new IOException("cut");
            }
            peer.sendBytes(Arrays.copyOfRange(pdu, PART, pdu.length));
            return true;
        });
    }

    private void abort(boolean nativeBuffers, boolean cut) throws Exception {
        try (var loopback = new Loopback(peer -> serve(peer, cut))
                .timeouts(Loopback.patient().withLogoutMs(cut ? 200 : Loopback.NEVER_MS));
                Session session = loopback.initiator
                        .login(loopback.options().withConnections(2));
                Arena arena = Arena.ofShared()) {
            List<MemorySegment> buffers = Stream.generate(() -> nativeBuffers
                    ? arena.allocate(BYTES)
                    : Loopback.blocks(BLOCKS)).limit(2).toList();
            List<Task<ScsiResult>> tasks = buffers.stream().map(each -> session.start(read(each)))
                    .toList();
            Object _ = CompletableFuture
                    .anyOf(tasks.stream().map(Task::future).toArray(CompletableFuture[]::new))
                    .get(60, TimeUnit.SECONDS);
            int late = tasks.getFirst().state() == Task.State.DONE ? 1 : 0;
            MemorySegment buffer = buffers.get(late);
            while (buffer.get(ValueLayout.JAVA_BYTE, 0) != TARGETS) {
                Thread.sleep(1);
            }
            CompletableFuture<?> reused = tasks.get(late).future()
                    .whenComplete((_, _) -> buffer.fill(CALLERS));
            assertThat(session.start(Exchange.Manage.of(TaskManagementFunction.LOGICAL_UNIT_RESET,
                    Lun.ZERO)).await()).isEqualTo(TaskManagementResponseCode.FUNCTION_COMPLETE);
            reset.countDown();
            assertThatThrownBy(() -> reused.get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(AbortedException.class);
            if (!cut) { // one by each connection, behind the rest of the aborted one
                for (Task<ScsiResult> each : Stream.generate(() -> session
                        .start(read(Loopback.blocks(1)))).limit(2).toList()) {
                    assertThat(each.await().isGood()).isTrue();
                }
            }
            assertThat(buffer.mismatch(MemorySegment.ofArray(new byte[BYTES]).fill(CALLERS)))
                    .as("first byte that was overwritten").isNegative();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotGiveABufferBackWhileADataInIsWrittenIntoIt(boolean nativeBuffers)
            throws Exception {
        abort(nativeBuffers, false);
    }

    @Test
    void shouldGiveABufferBackWhenTheConnectionEndsAmidTheDataIn() throws Exception {
        abort(true, true);
    }
}
