package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.scsi.Lun;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.block.WriteBlocks;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which calls an interrupt ends. The target interrupts the caller, so that it is in the call. */
@Timeout(180)
class InterruptTest {
    private final Thread caller = Thread.currentThread();

    @AfterEach
    void clearInterrupt() { boolean _ = Thread.interrupted(); }

    @Test
    void shouldEndALogin() throws Exception {
        try (var loopback = new Loopback(this::interruptTheLogin)) {
            assertThatThrownBy(loopback::login).isInstanceOf(IOException.class)
                    .hasMessageContaining(loopback.target.portal())
                    .hasMessageEndingWith("interrupted")
                    .hasCauseInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void shouldEndALoginBeforeItConnects() throws Exception {
        try (var loopback = new Loopback(ScriptedPeer::awaitEnd)) {
            caller.interrupt();
            assertThatThrownBy(loopback::login).isInstanceOf(IOException.class)
                    .hasMessageContaining(loopback.target.portal());
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void shouldEndTheWaitForTheFirstPath() throws Exception {
        try (var loopback = new Loopback(this::interruptTheLogin)) {
            assertThatThrownBy(() -> openByPaths(loopback)).isInstanceOf(DeviceGoneException.class)
                    .hasCauseInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    /** The target sees the end of the connection: the login is abandoned. */
    private void interruptTheLogin(ScriptedPeer peer) throws IOException {
        peer.receive();
        caller.interrupt();
        peer.awaitEnd();
    }

    private static BlockDevice openByPaths(Loopback loopback) throws IOException {
        return MultipathDevice.open(loopback.initiator,
                MultipathOptions.of(List.of(loopback.options()), Lun.ZERO));
    }

    @Test
    void shouldNotEndRequestsOfALun() throws Exception {
        try (var loopback = interruptingDisk(); BlockDevice device = loopback.open()) {
            shouldNotEndRequests(device);
        }
    }

    @Test
    void shouldNotEndRequestsOverPaths() throws Exception {
        try (var loopback = interruptingDisk(); BlockDevice device = openByPaths(loopback)) {
            shouldNotEndRequests(device);
        }
    }

    /** A disk that interrupts the caller before it answers. */
    private Loopback interruptingDisk() {
        return Loopback.disk((_, _, cdb) -> {
            if (cdb instanceof ReadBlocks || cdb instanceof WriteBlocks
                    || cdb instanceof SynchronizeCache) {
                caller.interrupt();
            }
            return false;
        });
    }

    private static void shouldNotEndRequests(BlockDevice device) throws Exception {
        MemorySegment written = Loopback.blocks(1);
        written.fill((byte) 0x5a);
        device.write(7, written);
        assertThat(Thread.interrupted()).as("after a write").isTrue();
        device.flush();
        assertThat(Thread.interrupted()).as("after a flush").isTrue();
        MemorySegment read = Loopback.blocks(1);
        device.read(7, read);
        assertThat(Thread.interrupted()).as("after a read").isTrue();
        assertThat(read.mismatch(written)).isEqualTo(-1);
    }

    @Test
    void shouldNotCloseALunWithRequestsInFlight() throws Exception {
        var atTarget = new CompletableFuture<Void>();
        var closer = new CompletableFuture<Thread>();
        var isClosed = new AtomicBoolean();
        var wasClosed = new CompletableFuture<Boolean>();
        try (var loopback = Loopback.disk((_, _, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                atTarget.complete(null);
                awaitWait(closer.get(60, TimeUnit.SECONDS));
                wasClosed.complete(isClosed.get());
            }
            return false;
        }); Session session = loopback.login()) {
            LunDevice device = session.open(Lun.ZERO);
            CompletableFuture<Void> read = device.submitRead(0, Loopback.blocks(1));
            atTarget.get(60, TimeUnit.SECONDS);
            var interrupted = new CompletableFuture<Boolean>();
            closer.complete(Thread.ofPlatform().start(() -> {
                Thread.currentThread().interrupt();
                try {
                    device.close();
                } catch (IOException e) {
                    interrupted.completeExceptionally(e);
                }
                isClosed.set(true);
                interrupted.complete(Thread.currentThread().isInterrupted());
            }));
            assertThat(wasClosed.get(60, TimeUnit.SECONDS)).as("closed before the read has ended")
                    .isFalse();
            assertThat(interrupted.get(60, TimeUnit.SECONDS)).isTrue();
            assertThat(read).isCompleted();
        }
    }

    /** Waits until a thread waits or has ended. */
    private static void awaitWait(Thread thread) {
        while (thread.getState() != Thread.State.WAITING
                && thread.getState() != Thread.State.TERMINATED) {
            Thread.onSpinWait();
        }
    }
}
