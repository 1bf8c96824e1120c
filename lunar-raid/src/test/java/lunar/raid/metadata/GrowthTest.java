package lunar.raid.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Random;
import lunar.block.BlockRequest;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.ScanOptions;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.record.Consistency;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GrowthTest {
    private final long seed = Seed.next();

    private TestVolume created(Level level, String title, int spares) throws StorageException {
        var test = new TestVolume("seed " + seed + " " + level + title, new Random(seed));
        test.create(level, 2, spares);
        test.open();
        if (level.isRedundant()) {
            test.resync();
        }
        test.fill();
        return test;
    }

    @Test
    void shouldAppendAMemberToALinearVolume() throws StorageException {
        TestVolume test = created(Level.LINEAR, "", 0);
        long before = test.volume.blockCount();
        int disk = test.add(Level.LINEAR, 9);
        // Requests that come meanwhile wait.
        var ended = new ArrayList<StorageException>();
        test.volume.submit(new BlockRequest()
                .asRead(3, 1, MemorySegment.ofArray(new byte[512]))
                .onCompletion((_, failure) -> ended.add(failure)));
        test.volume.pause(() -> {});
        test.volume.submit(new BlockRequest()
                .asRead(5, 1, MemorySegment.ofArray(new byte[512]))
                .onCompletion((_, failure) -> ended.add(failure)));
        test.settle();
        assertThat(ended).as("in flight before, and not begun").hasSize(1);
        test.volume.resume();
        test.settle();
        assertThat(ended).hasSize(2).containsOnlyNulls();
        test.grow(disk);
        assertThat(test.volume.blockCount()).isEqualTo(before + 72);
        test.checkFirst(before);
        test.fill();
        test.stop();
        test.open();
        assertThat(test.volume.blockCount()).isEqualTo(before + 72);
        test.check();
    }

    @Test
    void shouldGiveAMirrorOneMoreCopy() throws StorageException {
        TestVolume test = created(Level.RAID1, "", 1);
        int disk = test.add(Level.RAID1, TestVolume.STRIPES);
        test.grow(disk);
        assertThat(test.volume.state().slots()).containsExactly(SlotState.ACTIVE,
                SlotState.ACTIVE, SlotState.REBUILDING);
        assertThat(test.metadata.spares()).as("keeps its spare").singleElement()
                .satisfies(spare -> assertThat(spare.isAway()).isFalse());
        test.check();
        test.volume.rebuild(2, ScanOptions.DEFAULT);
        test.settle();
        assertThat(test.metadata.record().isWhole()).isTrue();
        test.fail(0);
        test.fail(1);
        test.check();
        test.fill();
        test.stop();
        test.open();
        test.check();
        assertThat(test.metadata.record().members().get(2).uuid()).isEqualTo(test.uuids.get(disk));
    }

    @Test
    void shouldRefuseWhatCannotGrow() throws StorageException {
        var test = new TestVolume("seed " + seed, new Random(seed));
        test.consistency = Consistency.BITMAP;
        test.create(Level.RAID5, 3, 0);
        test.open();
        test.resync();
        int disk = test.add(Level.RAID5, TestVolume.STRIPES);
        assertThatThrownBy(
                () -> Growth.check(test.metadata, "disk:3", test.disks.get(disk)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("RAID 5 without a journal: it cannot have one member more");
        TestVolume mirror = created(Level.RAID1, "", 0);
        int small = mirror.add(Level.RAID1, TestVolume.STRIPES - 1);
        assertThatThrownBy(
                () -> Growth.check(mirror.metadata, "disk:small", mirror.disks.get(small)))
                .hasMessageStartingWith("disk:small has 1.0 MiB in blocks of 512 bytes");
        mirror.fail(0);
        assertThatThrownBy(
                () -> Growth.check(mirror.metadata, "disk:small", mirror.disks.get(small)))
                .hasMessageContaining("wait until it is whole");
    }

    /** The power is cut at each request to each disk while the volume grows. */
    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"LINEAR", "RAID1"})
    void shouldBeAVolumeAfterACutAtEveryRequest(Level level) throws StorageException {
        int grown = 0;
        int not = 0;
        for (int victim = 0; victim < 3; victim++) {
            boolean isCut = true;
            for (int after = 0; isCut; after++) {
                TestVolume test = created(level, " disk " + victim + " cut at " + after, 0);
                long before = test.volume.blockCount();
                int disk = test.add(level, TestVolume.STRIPES);
                test.disks.get(victim).cutAfter(after);
                test.grow(disk);
                if (level == Level.RAID1 && test.volume.shape().members() == 3
                        && !test.isCut()) {
                    test.volume.rebuild(2, ScanOptions.DEFAULT);
                    test.settle();
                }
                isCut = test.isCut();
                test.restart();
                Outcome outcome = test.assembly();
                assertThat(outcome).as(test.title() + outcome)
                        .isInstanceOf(Outcome.Assembled.class);
                test.open();
                test.checkFirst(before);
                if (test.volume.shape().members() == 2) {
                    not++;
                    assertThat(isCut).as(test.title()).isTrue();
                } else {
                    grown++;
                    if (level == Level.RAID1) {
                        test.resync();
                        test.makeWhole();
                        test.checkRedundancy();
                    }
                    test.fill();
                    test.check();
                }
                test.close();
            }
        }
        assertThat(grown).isGreaterThan(10);
        assertThat(not).isGreaterThan(10);
    }
}
