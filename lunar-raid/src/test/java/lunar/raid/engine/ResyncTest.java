package lunar.raid.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.Identity;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.raid.BackgroundScan;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.Rebuild;
import lunar.raid.ScanOptions;
import lunar.raid.StripeChange;
import lunar.raid.StripeSet;
import lunar.raid.WriteGuard;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.store.MemoryDevice;
import org.junit.jupiter.api.Test;

/** Resyncs during which members fail, or cannot be read: no stripe counts as consistent that is not. */
class ResyncTest {
    private static final int CHUNK = 8;
    private static final int ROWS = 12;
    private static final int BLOCK = 512;

    /** A disk that fails requests of a test's choice. */
    private static final class Disk extends ForwardingDevice {
        private Predicate<BlockRequest> isGone = _ -> false;
        private Predicate<BlockRequest> isBad = _ -> false;

        Disk() { super(MemoryDevice.create(CHUNK * ROWS * BLOCK, BLOCK)); }

        @Override
        public void submit(BlockRequest request) {
            RequestCompletion.executeAndComplete(request, this);
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            if (isGone.test(request)) {
                throw new DeviceGoneException("pulled");
            }
            if (isBad.test(request)) {
                throw new MediumException("bad block");
            }
            below().execute(request);
        }
    }

    private final List<Disk> disks = new ArrayList<>();
    /** Stripes that the guard has been told of. */
    private final TreeSet<Long> resynced = new TreeSet<>();
    private final WriteGuard guard = new WriteGuard() {
        @Override
        public void begin(StripeChange change, Ready ready) { ready.ready(null); }

        @Override
        public void end(StripeChange change, boolean written) {}

        @Override
        public void beginResync(long firstStripe, long stripeCount, Ready ready) {
            for (long stripe = firstStripe; stripe < firstStripe + stripeCount; stripe++) {
                resynced.add(stripe);
            }
            ready.ready(null);
        }
    };

    /** A volume after a crash: its members hold different things everywhere. */
    private VolumeEngine stale(Level level, int count) throws StorageException {
        for (int slot = 0; slot < count; slot++) {
            var disk = new Disk();
            byte[] content = new byte[CHUNK * ROWS * BLOCK];
            new Random(slot + 1).nextBytes(content);
            disk.below().write(0, MemorySegment.ofArray(content));
            disks.add(disk);
        }
        return VolumeEngine.of(Shape.of(level, BLOCK, CHUNK, count, CHUNK * ROWS),
                disks.stream().map(disk -> RaidMember.of(disk, 0)).toList(),
                RaidOptions.of(Identity.of("test", new UUID(1, 1))).withGuard(guard)
                        .withStale(StripeSet.ALL));
    }

    private static byte[] read(VolumeEngine volume) throws StorageException {
        byte[] content = new byte[(int) volume.sizeBytes()];
        volume.read(0, MemorySegment.ofArray(content));
        return content;
    }

    private static byte[] content(Disk disk) throws StorageException {
        byte[] content = new byte[CHUNK * ROWS * BLOCK];
        disk.below().read(0, MemorySegment.ofArray(content));
        return content;
    }

    /** The copy that the others are made from is pulled: the next one takes its place in that very stripe. */
    @Test
    void shouldRestoreFromNextCopyIfFirstFailsMeanwhile() throws Exception {
        VolumeEngine volume = stale(Level.RAID1, 3);
        disks.getFirst().isGone = request -> request.operation() == Operation.READ
                && request.lba() + request.blockCount() > 5 * CHUNK;
        BackgroundScan resync = volume.resync(ScanOptions.DEFAULT);
        assertThat(resync.hasEnded()).isTrue();
        assertThat(resync.failure()).isNull();
        assertThat(volume.state().resyncedStripes()).isEmpty();
        assertThat(content(disks.get(1))).isEqualTo(content(disks.get(2)));
        assertThat(read(volume)).isEqualTo(content(disks.get(1)));
    }

    /** Neither copy can be read somewhere: all other reads go on to agree, until the block is written. */
    @Test
    void shouldLeaveStripesThatItCannotRestore() throws Exception {
        VolumeEngine volume = stale(Level.RAID1, 2);
        int bad = 3 * CHUNK + 2;
        disks.forEach(disk -> disk.isBad = request -> request.operation() == Operation.READ
                && request.lba() <= bad && bad < request.lba() + request.blockCount());
        BackgroundScan resync = volume.resync(ScanOptions.DEFAULT);
        assertThat(resync.failure()).isInstanceOf(MediumException.class);
        assertThat(volume.state().resyncedStripes()).hasValue(0);
        MemorySegment block = MemorySegment.ofArray(new byte[BLOCK]);
        for (int pass = 0; pass < 4; pass++) {
            volume.read(bad + 1, block);
            assertThat(block.mismatch(MemorySegment.ofArray(content(disks.getFirst()))
                    .asSlice((bad + 1) * BLOCK, BLOCK))).isEqualTo(-1);
        }
        volume.write(bad, block);
        disks.forEach(disk -> disk.isBad = _ -> false);
        assertThat(volume.resync(ScanOptions.DEFAULT).failure()).isNull();
        assertThat(volume.state().isWhole()).isTrue();
        assertThat(content(disks.get(0))).isEqualTo(content(disks.get(1)));
    }

    /** A data block cannot be read, and parity may be old: nothing is made up from it. */
    @Test
    void shouldNotComputeDataFromStaleParity() throws Exception {
        VolumeEngine volume = stale(Level.RAID5, 3);
        int slot = volume.layout().slot(2, 0);
        long bad = volume.layout().memberBlock(2, 0) + 1;
        disks.get(slot).isBad = request -> request.operation() == Operation.READ
                && request.lba() <= bad && bad < request.lba() + request.blockCount();
        BackgroundScan resync = volume.resync(ScanOptions.DEFAULT);
        assertThat(resync.failure()).isInstanceOf(MediumException.class);
        long lba = 2L * volume.layout().stripeBlocks() + 1;
        MemorySegment block = MemorySegment.ofArray(new byte[BLOCK]);
        assertThatThrownBy(() -> volume.read(lba, block)).isInstanceOf(MediumException.class);
    }

    /** With one data unit lost P tells what it was, and Q is made to agree: P and Q together tell the truth later. */
    @Test
    void shouldMakeSecondParityAgreeIfDataAreLost() throws Exception {
        VolumeEngine volume = stale(Level.RAID6, 5);
        volume.fail(1, new DeviceGoneException("pulled"));
        byte[] known = read(volume);
        assertThat(volume.resync(ScanOptions.DEFAULT).failure()).isNull();
        assertThat(read(volume)).isEqualTo(known);
        volume.fail(3, new DeviceGoneException("pulled, too"));
        assertThat(read(volume)).isEqualTo(known);
    }

    /** A parity that may be old is not used for data that another one tells: reads, writes and repairs agree. */
    @Test
    void shouldWriteToStaleStripesWithoutTheSecondParity() throws Exception {
        VolumeEngine volume = stale(Level.RAID6, 5);
        volume.fail(1, new DeviceGoneException("pulled"));
        byte[] known = read(volume);
        var random = new Random(7);
        for (int round = 0; round < 100; round++) {
            int count = 1 + random.nextInt(2 * CHUNK);
            int lba = random.nextInt((int) volume.blockCount() - count);
            byte[] data = new byte[count * BLOCK];
            random.nextBytes(data);
            volume.write(lba, MemorySegment.ofArray(data));
            System.arraycopy(data, 0, known, lba * BLOCK, data.length);
        }
        assertThat(read(volume)).isEqualTo(known);
        assertThat(volume.resync(ScanOptions.DEFAULT).failure()).isNull();
        volume.fail(3, new DeviceGoneException("pulled, too"));
        assertThat(read(volume)).isEqualTo(known);
    }

    /** A bad sector in a stripe that may be stale: if a disk dies later, only what the sector is needed for is lost. */
    @Test
    void shouldLoseNoMoreThanWhatCannotBeRead() throws Exception {
        VolumeEngine volume = stale(Level.RAID5, 3);
        assertThat(volume.resync(ScanOptions.DEFAULT).failure()).isNull();
        byte[] known = read(volume);
        volume.engine().membership.change(slots -> slots.stale(StripeSet.ALL), () -> {});
        long bad = volume.layout().memberBlock(2, 1) + 1;
        disks.get(
                volume.layout().slot(2, 1)).isBad = request -> request.operation() == Operation.READ
                        && request.lba() <= bad && bad < request.lba() + request.blockCount();
        assertThat(volume.resync(ScanOptions.DEFAULT).failure())
                .isInstanceOf(MediumException.class);
        assertThat(volume.state().resyncedStripes()).hasValue(0);
        volume.fail(volume.layout().slot(2, 0), new DeviceGoneException("pulled"));
        long lba = 2L * volume.layout().stripeBlocks();
        MemorySegment block = MemorySegment.ofArray(new byte[BLOCK]);
        for (int i = 0; i < CHUNK; i++) {
            if (i == 1) {
                assertThatThrownBy(() -> volume.read(lba + 1, block))
                        .isInstanceOf(MediumException.class);
            } else {
                volume.read(lba + i, block);
                assertThat(block.mismatch(MemorySegment.ofArray(known)
                        .asSlice((lba + i) * BLOCK, BLOCK))).isEqualTo(-1);
            }
        }
    }

    /** A member that comes back by the bitmap must get what a resync has changed without it. */
    @Test
    void shouldTellGuardOfAllStripesItPasses() throws Exception {
        VolumeEngine volume = stale(Level.RAID1, 3);
        volume.fail(2, new DeviceGoneException("pulled"));
        assertThat(volume.resync(ScanOptions.DEFAULT).failure()).isNull();
        assertThat(resynced).hasSize(ROWS);
        StripeSet missed = from -> {
            Long next = resynced.ceiling(from);
            return next == null ? StripeSet.NONE : next;
        };
        Rebuild rebuild = volume.readmit(2, disks.get(2), 0, () -> missed, ScanOptions.DEFAULT);
        assertThat(rebuild.hasEnded()).isTrue();
        assertThat(content(disks.get(2))).isEqualTo(content(disks.get(0)));
    }
}
