package lunar.target.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.block.DiskSpec;
import lunar.store.MemoryDevice;
import lunar.target.ServerLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests units that end while a loss of writes is still being saved. */
@Timeout(600)
class UnitRegistryTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:t";

    private static final class Forgetful extends ForwardingDevice {
        Forgetful() { super(MemoryDevice.create(1 << 20, 512)); }

        @Override
        public long writeLosses() { return 1; }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) { below().submit(request); }
    }

    /** Store of a disk that does not answer until it is released. */
    private static final class StalledStore implements StateStore {
        private final CountDownLatch released = new CountDownLatch(1);
        private volatile boolean isSaved;

        @Override
        public Optional<byte[]> load(String name) { return Optional.empty(); }

        @Override
        public void save(String name, byte[] state) throws IOException {
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            isSaved = true;
        }

        @Override
        public boolean isPersistent() { return true; }
    }

    private final UnitRegistry units = new UnitRegistry(ServerLimits.DEFAULT);
    private final StalledStore store = new StalledStore();

    private LogicalUnit takeWithLoss(BlockDevice device) throws IOException {
        LogicalUnit unit = units.take(TARGET, DiskSpec.of(device).withState(store));
        assertThat(unit.device().vpdPages()).isNotEmpty(); // has noticed the loss
        return unit;
    }

    @Test
    void shouldNotBlockOthersWhileAnEndingUnitSavesALoss() throws Exception {
        CompletableFuture<Void> end = units.giveBack(takeWithLoss(new Forgetful()));
        assertThat(end).isNotDone();
        LogicalUnit other = units.take(TARGET, DiskSpec.of(MemoryDevice.create(1 << 20, 512)));
        assertThat(units.count()).isEqualTo(1);
        assertThat(units.giveBack(other)).isDone();
        assertThat(end).isNotDone();
        store.released.countDown();
        end.join();
        assertThat(store.isSaved).isTrue();
    }

    /** A server that closes waits once for all of them. */
    @Test
    void shouldEndAllUnitsTogether() throws Exception {
        LogicalUnit _ = takeWithLoss(new Forgetful());
        LogicalUnit _ = takeWithLoss(new Forgetful());
        CompletableFuture<Void> end = units.end();
        assertThat(end).isNotDone();
        store.released.countDown();
        end.join();
        assertThat(store.isSaved).isTrue();
    }
}
