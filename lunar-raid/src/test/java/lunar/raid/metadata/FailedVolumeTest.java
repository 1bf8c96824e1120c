package lunar.raid.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.metadata.page.Broadcast;
import lunar.raid.metadata.page.MemberSet;
import lunar.testkit.Seed;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * More members go than the level survives, at any moment of writes: these end, and the members have the volume still.
 */
class FailedVolumeTest {
    private static final int RUNS = 60;

    private final long seed = Seed.next();

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldEndAllRequestsAndKeepWhatItHas(Level level) throws StorageException {
        int waited = 0;
        for (int run = 0; run < RUNS; run++) {
            waited += play(level, run);
        }
        assertThat(waited).as("requests that were under way").isPositive();
    }

    private int play(Level level, int run) throws StorageException {
        var test = new TestVolume("seed " + seed + " run " + run + " " + level,
                new Random(seed + run));
        test.create(level, 4, 0);
        test.open();
        test.resync();
        test.fill();
        for (int i = 0; i < 2; i++) { // so that bits are to be set again
            test.metadata.tick();
            test.settle();
        }
        int stripe = test.layout().stripeBlocks();
        var begun = new ArrayList<BlockRequest>();
        var ended = new ArrayList<StorageException>();
        for (int i = 0; i < 6; i++) {
            int from = i / 3 * stripe + i % 3;
            var request = new BlockRequest().asWrite(from, 1,
                    MemorySegment.ofArray(new byte[TestVolume.BLOCK]), i % 2 == 0);
            begun.add(request);
            test.volume.submit(request.onCompletion((_, failure) -> ended.add(failure)));
        }
        test.volume.submit(new BlockRequest().asFlush()
                .onCompletion((_, failure) -> ended.add(failure)));
        for (int steps = test.random.nextInt(3 * (run + 1)); steps > 0; steps--) {
            test.step();
        }
        int before = ended.size();
        var slots = new ArrayList<>(List.of(0, 1, 2, 3));
        while (!slots.isEmpty()) {
            test.disks.get(slots.remove(test.random.nextInt(slots.size()))).breakDown();
            for (int steps = test.random.nextInt(20); steps > 0; steps--) {
                test.step();
            }
        }
        test.settle();
        assertThat(ended).as(test.title()).hasSize(begun.size() + 1);
        ended.stream().filter(failure -> failure != null)
                .forEach(failure -> assertThat(failure).as(test.title())
                        .isInstanceOf(DeviceGoneException.class));
        test.volume.drain();
        test.metadata.tick();
        test.settle();
        test.restart();
        test.open();
        for (SlotState state : test.volume.state().slots()) {
            assertThat(state).as(test.title()).isIn(SlotState.ACTIVE, SlotState.FAILED);
        }
        test.resync();
        test.makeWhole();
        test.checkFrom(2 * stripe);
        test.checkRedundancy();
        test.close();
        return ended.size() - before;
    }

    /** Failures of members are not reported once the volume is closed. */
    @Test
    void shouldEndWhatWaitsForMetadataWhenItIsClosed() throws StorageException {
        var test = new TestVolume("seed " + seed, new Random(seed));
        test.create(Level.RAID1, 2, 0);
        test.open();
        var ended = new ArrayList<StorageException>();
        test.volume.submit(new BlockRequest()
                .asWrite(0, 1, MemorySegment.ofArray(new byte[TestVolume.BLOCK]), false)
                .onCompletion((_, failure) -> ended.add(failure)));
        assertThat(test.disks.getFirst().pending()).as("the bitmap").isEqualTo(1);
        assertThat(ended).isEmpty();
        test.volume.close();
        assertThat(ended).singleElement().isInstanceOf(DeviceGoneException.class);
    }

    /** Else it has missed more changes than the one that a crash may have cut short, and is not believed. */
    @Test
    void shouldNotChangeSuperblocksWithoutAMemberThatIsTheEnd() throws StorageException {
        var test = new TestVolume("seed " + seed, new Random(seed));
        test.create(Level.RAID5, 3, 0);
        test.open();
        test.resync();
        test.fill();
        test.fail(0);
        test.disks.get(1).breakDown();
        test.disks.get(2).isPrompt();
        for (int i = 0; i < 3; i++) { // the first is under way on disk 1, and the others wait
            test.metadata.keep(test.volume.state(), _ -> {});
        }
        test.settle();
        assertThat(test.volume.state().serving()).isFalse();
        test.restart();
        test.open();
        assertThat(test.volume.state().slots()).containsExactly(SlotState.FAILED,
                SlotState.ACTIVE, SlotState.ACTIVE);
        test.check();
        test.close();
    }

    @Test
    void shouldTakeNothingForStableThatIsNotOnAllMembers() {
        var disks = List.of(new SteppedDevice(64), new SteppedDevice(64));
        var told = new ArrayList<String>();
        var set = new MemberSet(2, (slot, _) -> told.add("failed " + slot));
        set.add(0, disks.get(0));
        set.add(1, disks.get(1));
        Broadcast broadcast = Broadcast.over(set, () -> told.add("over"));
        broadcast.start(0b11, Broadcast.FLUSH);
        disks.get(0).endAll();
        set.abandon(new DeviceGoneException("gone"));
        assertThat(told).containsExactly("over");
        assertThat(broadcast.succeeded()).isZero();
        assertThat(broadcast.hasLostBuffers()).isTrue();
        disks.get(1).endAll();
        broadcast.start(0b11, Broadcast.FLUSH);
        assertThat(told).containsExactly("over", "over");
        assertThat(broadcast.succeeded()).isZero();
        assertThat(disks).allMatch(disk -> disk.pending().isEmpty());
    }
}
