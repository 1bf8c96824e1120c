package lunar.raid.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.Identity;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.Rebuild;
import lunar.raid.ScanOptions;
import lunar.raid.SlotState;
import lunar.raid.engine.member.MemberQueue;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.testkit.SteppedDevice;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Members lose their write caches while the volume is busy with other things. */
class LossCheckTest {
    private static final int CHUNK = 8;
    private static final int ROWS = 64;

    /** A stepped disk that may have lost its cache: the next flush says so, after so many that are refused as busy. */
    private static final class Disk extends ForwardingDevice {
        private final SteppedDevice stepped;
        private long losses;
        private boolean isReported = true;
        private boolean isUntrue;
        private int busy;

        Disk() { this(new SteppedDevice(CHUNK * ROWS)); }

        private Disk(SteppedDevice stepped) {
            super(stepped);
            this.stepped = stepped;
        }

        void lose(int busyBefore) {
            losses++;
            isReported = false;
            busy = busyBefore;
        }

        private @Nullable StorageException refusal(BlockRequest request) {
            if (isUntrue && request.operation() == Operation.READ) {
                return new LostWritesException("for ever");
            }
            if (request.operation() != Operation.FLUSH || isReported) {
                return null;
            }
            if (busy > 0) {
                busy--;
                return new BusyException("busy");
            }
            isReported = true;
            return new LostWritesException("its cache was lost");
        }

        @Override
        public long writeLosses() { return losses; }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            StorageException refusal = refusal(request);
            if (refusal != null) {
                throw refusal;
            }
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) {
            StorageException refusal = refusal(request);
            if (refusal != null) {
                RequestCompletion.fail(request, refusal);
            } else {
                below().submit(request);
            }
        }
    }

    private final List<Disk> disks = new ArrayList<>(List.of(new Disk(), new Disk()));
    private final Deque<Runnable> pauses = new ArrayDeque<>();
    private final List<@Nullable StorageException> ended = new ArrayList<>();

    private VolumeEngine volume(Level level) {
        return VolumeEngine.of(Shape.of(level, 512, CHUNK, 2, CHUNK * ROWS),
                disks.stream().map(disk -> RaidMember.of(disk, 0)).toList(),
                RaidOptions.of(Identity.of("test", new UUID(1, 1))).withPauses(pauses::add));
    }

    private void settle() {
        while (!pauses.isEmpty()
                || disks.stream().anyMatch(disk -> !disk.stepped.pending().isEmpty())) {
            disks.forEach(disk -> disk.stepped.endAll());
            for (int left = pauses.size(); left > 0; left--) {
                pauses.remove().run();
            }
        }
    }

    private void read(VolumeEngine volume, long lba) {
        volume.submit(new BlockRequest().asRead(lba, 1, MemorySegment.ofArray(new byte[512]))
                .onCompletion((_, failure) -> ended.add(failure)));
    }

    /** As many requests as a member takes at once meet the loss, and wait for what the check's flush brings. */
    @Test
    void shouldFlushMemberWhoseQueueIsFullOfRequestsThatWaitForIt() {
        VolumeEngine volume = volume(Level.LINEAR);
        int many = MemberQueue.MIN_DEPTH + 10;
        for (int i = 0; i < many; i++) {
            read(volume, i);
        }
        assertThat(disks.getFirst().stepped.pending()).hasSize(MemberQueue.MIN_DEPTH);
        disks.getFirst().lose(0);
        settle();
        assertThat(ended).hasSize(many).containsOnlyNulls();
        assertThat(volume.writeLosses()).isEqualTo(1);
    }

    /** Copies differ after they have lost their caches: requests that were under way read what later ones do. */
    @Test
    void shouldReadAgainFromFirstCopyWhatWasReadFromAnother() throws StorageException {
        VolumeEngine volume = volume(Level.RAID1);
        disks.get(1).stepped.write(0, MemorySegment.ofArray(new byte[8 * 512]).fill((byte) 1));
        var found = new ArrayList<MemorySegment>();
        for (int i = 0; i < 8; i++) {
            MemorySegment block = MemorySegment.ofArray(new byte[512]);
            found.add(block);
            volume.submit(new BlockRequest().asRead(i, 1, block)
                    .onCompletion((_, failure) -> ended.add(failure)));
        }
        disks.forEach(disk -> disk.lose(0));
        settle();
        assertThat(ended).hasSize(8).containsOnlyNulls();
        assertThat(found).allMatch(block -> block.get(ValueLayout.JAVA_BYTE, 0) == 0);
    }

    @Test
    void shouldWaitForMemberThatIsTooBusyForFlush() {
        VolumeEngine volume = volume(Level.RAID1);
        for (int i = 0; i < 4; i++) {
            read(volume, i);
        }
        disks.forEach(disk -> disk.lose(3));
        settle();
        assertThat(ended).hasSize(4).containsOnlyNulls();
        assertThat(volume.state().slots()).containsOnly(SlotState.ACTIVE);
    }

    /** Blocks rebuilt since the last flush may be lost: the volume goes on with the other copy alone. */
    @Test
    void shouldFailCopyThatIsBeingRebuiltWhereTheLastOneHasLostWritesToo() {
        VolumeEngine volume = volume(Level.RAID1);
        assertThat(volume.fail(1, new DeviceGoneException("gone"))).isTrue();
        settle();
        disks.set(1, new Disk());
        Rebuild rebuild = volume.replace(1, disks.get(1), 0,
                ScanOptions.DEFAULT.withBatch(1).withPace((_, goOn) -> pauses.add(goOn)));
        while (pauses.isEmpty()) {
            disks.forEach(disk -> disk.stepped.endAll());
        }
        disks.forEach(disk -> disk.lose(0));
        read(volume, 0);
        disks.forEach(disk -> disk.stepped.endAll());
        assertThat(volume.state().slots()).containsExactly(SlotState.ACTIVE, SlotState.FAILED);
        settle();
        assertThat(ended).containsExactly((StorageException) null);
        assertThat(rebuild.failure()).isNotNull();
        assertThat(volume.state().slots()).containsExactly(SlotState.ACTIVE, SlotState.FAILED);
        assertThat(volume.writeLosses()).isEqualTo(1);
    }

    /** The volume cannot do without them, and goes on with what they have; then it must end. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldFailMembersWhoseReadsSayForEverThatTheyHaveLostWrites() {
        VolumeEngine volume = volume(Level.RAID1);
        disks.forEach(disk -> disk.isUntrue = true);
        for (int i = 0; i < 4; i++) {
            read(volume, i);
        }
        settle();
        assertThat(ended).hasSize(4).doesNotContainNull();
        assertThat(volume.state().serving()).isFalse();
    }
}
