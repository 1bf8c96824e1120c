package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.raid.OwnershipOptions;
import lunar.raid.metadata.record.OwnerRecord;
import lunar.raid.metadata.superblock.OwnerRecordStore;
import lunar.raid.service.ownership.Ownership;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Members that are taken from an owner that wakes up meanwhile. */
class OwnershipTakingTest {
    private static final Duration LEASE = Duration.ofMillis(500);
    private static final OwnershipOptions QUICK = new OwnershipOptions(Duration.ofMillis(20),
            LEASE, LEASE.multipliedBy(2), Duration.ZERO, false, false);
    private static final UUID VOLUME = UUID.randomUUID();
    private static final OwnerRecord OWNER = new OwnerRecord(VOLUME, 5, UUID.randomUUID(), 1,
            false, (int) LEASE.toMillis(), 0,
            new OwnerRecord.ProcessId(UUID.randomUUID(), 1, 4711, 1, 0, "alpha"), "");

    private final List<FlakyDisk> disks = new ArrayList<>();
    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();

    OwnershipTakingTest() throws StorageException {
        for (int i = 0; i < 2; i++) {
            disks.add(new FlakyDisk(Devices.open("ram:1MiB"), true));
            write(i, OWNER);
        }
    }

    @AfterEach
    void end() { workers.shutdownNow(); }

    private OwnerRecord there(int disk) throws StorageException {
        return new OwnerRecordStore(disks.get(disk).below()).read().orElseThrow();
    }

    private void write(int disk, OwnerRecord record) throws StorageException {
        var place = new OwnerRecordStore(disks.get(disk).below());
        var _ = place.read();
        assertThat(place.swap(record)).isTrue();
    }

    /** The owner of a disk counts its record up when another process is about to replace it, once or each time. */
    private void awake(int disk, boolean isOnce) {
        disks.get(disk).beforeSwap = () -> {
            try {
                if (isOnce) {
                    disks.get(disk).beforeSwap = () -> {};
                }
                write(disk, there(disk).next());
            } catch (StorageException e) {
                throw new AssertionError(e);
            }
        };
    }

    private void start(OwnershipOptions options) throws StorageException {
        var ownership = new Ownership("raid1:music", options, workers);
        try {
            List<BlockDevice> devices = List.copyOf(disks);
            assertThat(ownership.acquire(VOLUME, devices, "")).isEmpty();
        } finally {
            ownership.end();
        }
    }

    @Test
    void shouldLeaveTheVolumeToAnOwnerThatWakesUp() throws Exception {
        awake(0, true);
        assertThatThrownBy(() -> start(QUICK)).isInstanceOf(BusyException.class)
                .hasMessageContaining("in use by host alpha pid 4711");
        assertThat(there(0)).isEqualTo(OWNER.next());
        assertThat(there(1)).isEqualTo(OWNER);
    }

    @Test
    void shouldForceAnOwnerOutThatWritesMeanwhile() throws Exception {
        awake(1, true);
        start(QUICK.withTakeOver(true));
        assertThat(there(1).epoch()).isEqualTo(6);
    }

    @Test
    void shouldNotFreeWhatItHasTakenBeforeTheOwnerIsCertainlyStill() throws Exception {
        awake(1, false);
        long begunNs = System.nanoTime();
        assertThatThrownBy(() -> start(QUICK.withTakeOver(true)))
                .isInstanceOf(BusyException.class);
        assertThat(System.nanoTime() - begunNs).isGreaterThanOrEqualTo(LEASE.toNanos());
        assertThat(there(0).released()).isTrue();
        assertThat(there(1).token()).isEqualTo(OWNER.token());
    }

    @Test
    void shouldWaitForTheOwnerWhereItIsInterrupted() throws Exception {
        long begunNs = System.nanoTime();
        disks.get(1).beforeSwap = () -> Thread.currentThread().interrupt();
        assertThatThrownBy(() -> start(QUICK.withTakeOver(true)))
                .isInstanceOf(StorageException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(System.nanoTime() - begunNs).isGreaterThanOrEqualTo(LEASE.toNanos());
        assertThat(there(0).released()).isTrue();
        assertThat(there(1).released()).isTrue();
    }

    /** The disks are some that several hosts are connected to. */
    private void share() {
        disks.forEach(one -> one.comparesForAll = false);
    }

    /** Another process has read the old record of a disk, too, and writes its own over the new one. */
    private void race(int disk) {
        var other = new OwnerRecord(VOLUME, 6, UUID.randomUUID(), 1, false,
                (int) LEASE.toMillis(), 0, OWNER.process(), "");
        FlakyDisk slow = disks.get(1);
        slow.beforeWrite = () -> {
            slow.beforeWrite = () -> {};
            try {
                write(disk, other);
            } catch (StorageException e) {
                throw new AssertionError(e);
            }
        };
    }

    @Test
    void shouldYieldToAProcessThatWritesItsRecordLaterToASharedDisk() throws Exception {
        share();
        race(0);
        assertThatThrownBy(() -> start(QUICK)).isInstanceOf(BusyException.class)
                .hasMessageContaining("in use by host alpha pid 4711");
        assertThat(there(0).token()).as("not released over it").isNotEqualTo(OWNER.token());
        assertThat(there(0).released()).isFalse();
    }

    @Test
    void shouldWaitForTheLeaseOfAProcessThatItMayHaveWrittenOver() throws Exception {
        share();
        var late = new OwnershipOptions(QUICK.beat(), LEASE, QUICK.silence(), Duration.ofNanos(1),
                false, false); // each record is late
        long begunNs = System.nanoTime();
        start(late);
        assertThat(System.nanoTime() - begunNs)
                .isGreaterThanOrEqualTo(QUICK.silence().plus(LEASE).toNanos());
        assertThat(there(0).epoch()).isEqualTo(6);
    }

    @Test
    void shouldNoticeThatAnOwnerThatWasForcedOutHasWrittenLate() throws Exception {
        share();
        int[] looks = new int[1];
        disks.get(0).beforeRead = () -> {
            try {
                // Looks when the record has settled, and after the lease of the owner before.
                if (!there(0).token().equals(OWNER.token()) && ++looks[0] == 2) {
                    write(0, OWNER.next());
                }
            } catch (StorageException e) {
                throw new AssertionError(e);
            }
        };
        assertThatThrownBy(() -> start(QUICK.withTakeOver(true)))
                .isInstanceOf(BusyException.class);
    }
}
