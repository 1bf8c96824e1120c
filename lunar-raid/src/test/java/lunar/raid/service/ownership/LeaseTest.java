package lunar.raid.service.ownership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.OwnershipLostException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import org.junit.jupiter.api.Test;

class LeaseTest {
    private static final long LONG_NS = TimeUnit.HOURS.toNanos(1);

    private final AtomicInteger doubts = new AtomicInteger();
    private final Lease lease = new Lease(LONG_NS, doubts::incrementAndGet);
    private final MemorySegment block = MemorySegment.ofArray(new byte[512]);

    @Test
    void shouldHoldRequestsUntilTheRightIsConfirmed() throws Exception {
        try (BlockDevice disk = new LeasedDevice(Devices.open("ram:1MiB"), lease)) {
            CompletableFuture<Void> read = disk.submitRead(0, block);
            assertThat(read).isNotDone();
            assertThat(doubts).hasValue(1);
            lease.confirm(System.nanoTime());
            assertThat(read).isCompleted();
            assertThat(disk.submitRead(0, block)).isCompleted();
            disk.read(0, block);
            assertThat(doubts).hasValue(1);
        }
    }

    @Test
    void shouldNotBelieveWhatWasConfirmedBeforeADoubt() throws Exception {
        try (BlockDevice disk = new LeasedDevice(Devices.open("ram:1MiB"), lease)) {
            lease.confirm(System.nanoTime());
            long before = System.nanoTime();
            lease.doubt();
            lease.confirm(before - 1);
            assertThat(lease.isValid()).isFalse();
            CompletableFuture<Void> write = disk.submitWrite(0, block);
            assertThat(write).isNotDone();
            lease.confirm(System.nanoTime());
            assertThat(write).isCompleted();
        }
    }

    @Test
    void shouldBeOverSomeTimeAfterItWasConfirmed() {
        lease.confirm(System.nanoTime() - LONG_NS - 1);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void shouldFailEverythingOnceItIsLost() throws Exception {
        try (BlockDevice disk = new LeasedDevice(Devices.open("ram:1MiB"), lease)) {
            CompletableFuture<Void> held = disk.submitRead(0, block);
            var why = new OwnershipLostException("gone");
            assertThat(lease.lose(why)).isTrue();
            assertThat(lease.lose(new OwnershipLostException("again"))).isFalse();
            assertThat(held).isCompletedExceptionally();
            lease.confirm(System.nanoTime());
            assertThat(lease.isValid()).isFalse();
            assertThatThrownBy(() -> disk.read(0, block)).isSameAs(why);
            assertThat(disk.submitWrite(0, block)).isCompletedExceptionally();
        }
    }

    @Test
    void shouldEndTheRequestsOfADeviceThatIsClosed() throws Exception {
        BlockDevice disk = new LeasedDevice(Devices.open("ram:1MiB"), lease);
        try (BlockDevice other = new LeasedDevice(Devices.open("ram:1MiB"), lease)) {
            CompletableFuture<Void> held = disk.submitRead(0, block);
            CompletableFuture<Void> others = other.submitRead(0, block);
            var waits = new CompletableFuture<Void>();
            Thread _ = Thread.ofVirtual().start(() -> {
                try {
                    disk.read(0, MemorySegment.ofArray(new byte[512]));
                    waits.complete(null);
                } catch (StorageException e) {
                    waits.completeExceptionally(e);
                }
            });
            disk.close();
            assertThatThrownBy(() -> held.get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(DeviceGoneException.class);
            assertThatThrownBy(() -> waits.get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(DeviceGoneException.class);
            assertThat(disk.submitWrite(0, block)).isCompletedExceptionally();
            assertThat(others).isNotDone();
            lease.confirm(System.nanoTime());
            assertThat(others).isCompleted();
        }
    }

    @Test
    void shouldTellHostsWhoHasTheVolumeWhateverItsMembersSay() {
        lease.confirm(System.nanoTime());
        var gone = new DeviceGoneException("too many are gone");
        assertThat(lease.answer(gone)).isSameAs(gone);
        assertThat(doubts).hasValue(0);
        var conflict = new ReservationConflictException("reserved");
        assertThat(lease.answer(conflict)).isInstanceOf(BusyException.class);
        assertThat(doubts).hasValue(1);
        assertThat(lease.answer(new DeviceGoneException("none is left", conflict)))
                .isInstanceOf(BusyException.class);
        assertThat(lease.answer(gone)).isSameAs(gone);
        var lost = new OwnershipLostException("taken over");
        assertThat(lease.lose(lost)).isTrue();
        assertThat(lease.answer(gone)).isSameAs(lost);
        assertThat(lease.answer(conflict)).isSameAs(lost);
    }
}
