package lunar.scsi.target.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.scsi.target.Blocks;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.LogicalUnits;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests when the write verifier of a unit changes, and how it is saved. */
@Timeout(600)
class LossVerifierTest {
    /** A LUN of another target. */
    private static final class Remote extends ForwardingDevice {
        private volatile UUID verifier = new UUID(0, 1);
        private volatile long losses;

        Remote() { super(new Blocks()); }

        @Override
        public Optional<UUID> writeVerifier() { return Optional.of(verifier); }

        @Override
        public long writeLosses() { return losses; }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) { below().submit(request); }
    }

    /** Store that saves as soon as the thread of the test waits. */
    private static final class SlowStore implements StateStore {
        private final StateStore below = StateStore.inMemory();
        private final Thread test = Thread.currentThread();

        @Override
        public Optional<byte[]> load(String name) throws IOException { return below.load(name); }

        @Override
        public void save(String name, byte[] state) throws IOException {
            while (test.getState() != Thread.State.WAITING
                    && test.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            below.save(name, state);
        }

        @Override
        public boolean isPersistent() { return true; }
    }

    /** Store of a disk that does not answer until it is released. */
    private static final class StalledStore implements StateStore {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);
        private final AtomicInteger saves = new AtomicInteger();
        private volatile @Nullable Thread saver;

        @Override
        public Optional<byte[]> load(String name) { return Optional.empty(); }

        @Override
        public void save(String name, byte[] state) throws IOException {
            saver = Thread.currentThread();
            saves.incrementAndGet();
            begun.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        @Override
        public boolean isPersistent() { return true; }
    }

    /** Store of a unit that several servers share. */
    private static final class SharedStore implements StateStore {
        @Override
        public Optional<byte[]> load(String name) { return Optional.empty(); }

        @Override
        public void save(String name, byte[] state) {
            throw new AssertionError("servers have caches of their own");
        }

        @Override
        public boolean isShared() { return true; }

        @Override
        public boolean isPersistent() { return true; }
    }

    private final Remote device = new Remote();

    /** The device has met the loss while no host had unflushed writes, or it is counted. */
    @Test
    void shouldChangeWithTheLossesAndNotWithTheVerifierOfTheDevice() throws Exception {
        var verifier = new LossVerifier(device, StateStore.inMemory());
        UUID first = verifier.value();
        assertThat(first).isEqualTo(new UUID(0, 1));
        device.verifier = new UUID(0, 2);
        assertThat(verifier.check()).isFalse();
        assertThat(verifier.value()).isEqualTo(first);
        device.losses = 1;
        assertThat(verifier.check()).isTrue();
        assertThat(verifier.value()).isNotEqualTo(first);
    }

    /** A loss that the device has counted since does not hide behind one that it has not. */
    @Test
    void shouldChangeAtACountedLossAfterAnUncountedOne() throws Exception {
        var verifier = new LossVerifier(device, StateStore.inMemory());
        assertThat(verifier.reported(0)).isTrue();
        assertThat(verifier.reported(0)).isFalse();
        assertThat(verifier.reported(1)).isTrue();
        assertThat(verifier.reported(1)).isFalse();
        verifier.flushed(verifier.uncounted());
        assertThat(verifier.reported(1)).isFalse();
        assertThat(verifier.reported(2)).isTrue();
    }

    /** Hosts reach the same device by several servers, none of which knows what the others have been told. */
    @Test
    void shouldBeThatOfTheDeviceAtAllServersThatShareTheUnit() throws Exception {
        var other = new Remote();
        var here = new LossVerifier(device, new SharedStore());
        var there = new LossVerifier(other, new SharedStore());
        assertThat(here.value()).isEqualTo(there.value());
        device.verifier = new UUID(0, 2);
        device.losses = 1;
        assertThat(here.check()).isTrue();
        other.verifier = new UUID(0, 2);
        assertThat(here.value()).isEqualTo(there.value()).isEqualTo(new UUID(0, 2));
        assertThat(here.reported(1)).isTrue();
        assertThat(here.value()).isEqualTo(there.value());
    }

    /** As that of a file. */
    @Test
    void shouldChangeWithTheLossesOfASharedUnitIfThatOfTheDeviceDoesNot() throws Exception {
        var verifier = new LossVerifier(device, new SharedStore());
        device.losses = 1;
        assertThat(verifier.check()).isTrue();
        assertThat(verifier.value()).isNotEqualTo(new UUID(0, 1));
    }

    /** Another unit with the same state may be opened then. */
    @Test
    void shouldHaveSavedALossWhenTheUnitHasEnded() throws Exception {
        var store = new SlowStore();
        LogicalUnit unit = LogicalUnits.open(DiskSpec.of(device).withState(store),
                "iqn.2026-11.org.lunar:t", new UnitContext(1 << 20, 10_000));
        device.losses = 1;
        assertThat(unit.device().vpdPages()).isNotEmpty(); // has noticed the loss
        unit.end().join();
        assertThat(store.load("write-losses")).isPresent();
    }

    /** Another instance uses the store by then. */
    @Test
    void shouldSaveNoLaterLossOnceNobodyWaitsForTheStore() throws Exception {
        var store = new StalledStore();
        var verifier = new LossVerifier(device, store);
        assertThat(verifier.reported(1)).isTrue();
        store.begun.await();
        assertThat(verifier.reported(2)).isTrue();
        CompletableFuture<Void> end = verifier.end(1);
        end.join();
        store.released.countDown();
        Objects.requireNonNull(store.saver).join();
        assertThat(store.saves).hasValue(1);
        assertThat(verifier.reported(3)).isTrue();
        assertThat(verifier.end()).isDone();
    }

    @Test
    void shouldSaveTheLastLossBeforeItHasEnded() throws Exception {
        var store = new StalledStore();
        var verifier = new LossVerifier(device, store);
        assertThat(verifier.reported(1)).isTrue();
        store.begun.await();
        assertThat(verifier.reported(2)).isTrue();
        CompletableFuture<Void> end = verifier.end(600_000);
        assertThat(end).isNotDone();
        store.released.countDown();
        end.join();
        assertThat(store.saves).hasValue(2);
    }
}
