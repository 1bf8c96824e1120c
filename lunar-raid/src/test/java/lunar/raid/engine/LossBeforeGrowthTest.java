package lunar.raid.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.ForwardingDevice;
import lunar.block.Identity;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.store.MemoryDevice;
import org.junit.jupiter.api.Test;

/** Acknowledged writes were lost before the volume grew: its users hear of that all the same. */
class LossBeforeGrowthTest {
    private static final int CHUNK = 8;
    private static final int ROWS = 32;

    /** A disk with a volatile cache: the flush after a loss fails. */
    private static final class Cached extends ForwardingDevice {
        private long losses;
        private boolean isReported = true;

        Cached() { super(MemoryDevice.create(CHUNK * ROWS * 512L, 512)); }

        void lose() {
            losses++;
            isReported = false;
        }

        @Override
        public long writeLosses() { return losses; }

        private void requireFlushed(BlockRequest request) throws LostWritesException {
            if (request.operation() == Operation.FLUSH && !isReported) {
                isReported = true;
                throw new LostWritesException("its cache was lost");
            }
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            requireFlushed(request);
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) {
            try {
                requireFlushed(request);
            } catch (LostWritesException e) {
                RequestCompletion.fail(request, e);
                return;
            }
            below().submit(request);
        }
    }

    private final List<Cached> disks = new ArrayList<>(List.of(new Cached(), new Cached()));
    private final MemorySegment block = MemorySegment.ofArray(new byte[512]);

    private VolumeEngine volume() { return VolumeEngine.of(shape(), members(), options()); }

    private Shape shape() { return Shape.of(Level.LINEAR, 512, CHUNK, disks.size(), CHUNK * ROWS); }

    private List<RaidMember> members() {
        return disks.stream().map(disk -> RaidMember.of(disk, 0)).toList();
    }

    private static RaidOptions options() {
        return RaidOptions.of(Identity.of("test", new UUID(1, 1)));
    }

    private void grow(VolumeEngine volume) {
        disks.add(new Cached());
        volume.resume(shape(), members(), options());
    }

    private static void requireOneReport(VolumeEngine volume) throws StorageException {
        assertThatThrownBy(volume::flush).isInstanceOf(LostWritesException.class);
        volume.flush();
        assertThat(volume.writeLosses()).isEqualTo(1);
    }

    @Test
    void shouldReportALossThatNoFlushHasReported() throws Exception {
        try (VolumeEngine volume = volume()) {
            volume.write(0, block);
            disks.getFirst().lose();
            volume.read(0, block);
            assertThat(volume.writeLosses()).isEqualTo(1);
            volume.pause(() -> {});
            grow(volume);
            assertThat(volume.writeLosses()).isEqualTo(1);
            requireOneReport(volume);
        }
    }

    @Test
    void shouldNoticeALossWhileTheVolumeGrows() throws Exception {
        try (VolumeEngine volume = volume()) {
            volume.write(0, block);
            volume.pause(() -> {});
            disks.getFirst().lose();
            grow(volume);
            volume.read(0, block);
            requireOneReport(volume);
        }
    }

    @Test
    void shouldReportNothingTwice() throws Exception {
        try (VolumeEngine volume = volume()) {
            volume.write(0, block);
            disks.getFirst().lose();
            requireOneReport(volume);
            volume.pause(() -> {});
            grow(volume);
            volume.flush();
            assertThat(volume.writeLosses()).isEqualTo(1);
        }
    }
}
