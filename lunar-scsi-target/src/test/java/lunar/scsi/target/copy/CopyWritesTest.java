package lunar.scsi.target.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.scsi.target.Blocks;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.scsi.target.FencedDevice;
import lunar.scsi.target.InitiatorPort;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.ScsiTarget;
import lunar.scsi.target.TargetPort;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests stopping copies whose write hangs in the device. */
@Timeout(600)
class CopyWritesTest {
    /** Memory whose writes complete only after it is opened. */
    private static final class HungWrites extends ForwardingDevice {
        final CountDownLatch arrived = new CountDownLatch(1);
        final CountDownLatch opened = new CountDownLatch(1);

        HungWrites() { super(new Blocks()); }

        @Override
        public void submit(BlockRequest request) { below().submit(request); }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            if (request.operation() == BlockRequest.Operation.WRITE) {
                arrived.countDown();
                try {
                    opened.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            below().execute(request);
        }
    }

    private static BlockRequest request() { return new BlockRequest(); }

    private static MemorySegment block() { return MemorySegment.ofArray(new byte[512]); }

    @Test
    void shouldFenceWriteThatDoesNotEndInTime() throws Exception {
        try (var device = new HungWrites()) {
            FencedDevice fenced = FencedDevice.over(device);
            var writes = new CopyWrites(fenced, 1);
            String name = "iqn.2026-11.org.lunar:t";
            var port = new TargetPort(name, 1, 1);
            var nexus = new Nexus(new InitiatorPort("iqn.2026-11.org.lunar:i", 1), "i",
                    new ScsiTarget(name, List.of(port)), port, new NoTasks(), true);
            var ended = new CompletableFuture<Void>();
            try (CopyWrites.Writer writer = writes.begin(nexus, new CopyOperation(0, false))) {
                Thread.ofVirtual().start(() -> {
                    try {
                        writer.execute(request().asWrite(5, 1, block(), false));
                        ended.complete(null);
                    } catch (StorageException | CopyException e) {
                        ended.completeExceptionally(e);
                    }
                });
                device.arrived.await();
                writes.stop(nexus::equals).get(120, TimeUnit.SECONDS);
                assertThat(writes.stop(nexus::equals)).as("already fenced").isDone();
                assertThatThrownBy(() -> fenced.execute(request().asRead(5, 1, block())))
                        .isInstanceOf(BusyException.class);
                fenced.execute(request().asRead(6, 1, block()));

                device.opened.countDown();
                ended.get(120, TimeUnit.SECONDS);
                fenced.execute(request().asRead(5, 1, block()));
                assertThat(fenced.confinedCount()).isZero();
            }
        }
    }

    /** For a nexus whose commands are irrelevant. */
    private static final class NoTasks implements Nexus.Aborter {
        @Override
        public CompletableFuture<Integer> abort(LogicalUnit unit,
                IntConsumer marked) {
            return CompletableFuture.completedFuture(0);
        }

        @Override
        public CompletableFuture<Integer> withdraw(LogicalUnit unit) {
            return CompletableFuture.completedFuture(0);
        }
    }
}
