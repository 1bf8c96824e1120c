package lunar.raid.metadata.bitmap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import lunar.block.BlockRequest.Operation;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Volumes;
import lunar.raid.metadata.bitmap.BadBlocks.Range;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.Seed;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BadBlocksTest {
    private static final VolumeRecord VOLUME = Volumes.volume(Level.RAID5, 3, Consistency.BITMAP);

    private final List<SteppedDevice> disks = new ArrayList<>();
    private final MemberSet members = new MemberSet(3, (_, _) -> {});
    private final List<StorageException> told = new ArrayList<>();
    private BadBlocks bad;

    @BeforeEach
    void create() throws StorageException {
        for (int slot = 0; slot < 3; slot++) {
            disks.add(new SteppedDevice(1024));
            var page = new Page();
            BadBlocks.fillBlank(VOLUME, 1, page);
            new PagePair(disks.get(slot), VOLUME.description().layout().badBlocksBytes())
                    .write(page);
            members.add(slot, disks.get(slot));
        }
        bad = reopened();
    }

    private BadBlocks reopened() throws StorageException {
        return BadBlocks.open(members, VOLUME, 0b111);
    }

    private void endAll() {
        while (disks.stream().anyMatch(disk -> !disk.pending().isEmpty())) {
            disks.forEach(SteppedDevice::endAll);
        }
    }

    @Test
    void shouldKeepRangesOnAllMembers() throws StorageException {
        bad.add(new Range(1, 100, 8), told::add);
        assertThat(bad.overlaps(1, 107, 4)).as("at once").isTrue();
        assertThat(disks.get(0).pending()).extracting(step -> step.request().operation())
                .containsExactly(Operation.FLUSH);
        disks.get(0).endAll();
        disks.get(1).endAll();
        assertThat(told).isEmpty();
        endAll();
        assertThat(told).hasSize(1).containsOnlyNulls();
        for (int slot = 0; slot < 3; slot++) {
            assertThat(BadBlocks.open(members, VOLUME, 1L << slot).ranges())
                    .containsExactly(new Range(1, 100, 8));
        }
        assertThat(bad.overlaps(1, 108, 4)).isFalse();
        assertThat(bad.overlaps(1, 96, 4)).isFalse();
        assertThat(bad.overlaps(0, 100, 8)).isFalse();
    }

    /** A crash amid the write of a removal; the member that has it is lost after the next start. */
    @Test
    void shouldNotReturnToAnOlderCopyOnceOpened() throws StorageException {
        bad.add(new Range(1, 100, 8), told::add);
        endAll();
        bad.remove(new Range(1, 100, 8), told::add);
        disks.forEach(SteppedDevice::endAll); // the flush before it
        disks.getFirst().endAll();
        disks.getFirst().endAll();
        assertThat(BadBlocks.open(members, VOLUME, 0b001).ranges()).isEmpty();
        for (int slot = 0; slot < 3; slot++) {
            assertThat(BadBlocks.open(members, VOLUME, 1L << slot).ranges()).isEmpty();
        }
    }

    @Test
    void shouldMergeAndCutAsASetOfBlocksWould() throws StorageException {
        long seed = Seed.next();
        var random = new Random(seed);
        var model = new TreeSet<Long>();
        for (int i = 0; i < 300; i++) {
            var range = new Range(random.nextInt(2), random.nextInt(60), 1 + random.nextInt(9));
            boolean add = random.nextBoolean();
            for (long block = range.block(); block < range.end(); block++) {
                long key = range.slot() * 1000L + block;
                if (add) {
                    model.add(key);
                } else {
                    model.remove(key);
                }
            }
            if (add) {
                bad.add(range, told::add);
            } else {
                bad.remove(range, told::add);
            }
            endAll();
            for (int slot = 0; slot < 2; slot++) {
                for (long block = 0; block < 70; block++) {
                    assertThat(bad.overlaps(slot, block, 1)).as("seed %d step %d", seed, i)
                            .isEqualTo(model.contains(slot * 1000L + block));
                }
            }
            List<Range> ranges = bad.ranges();
            for (int at = 1; at < ranges.size(); at++) {
                Range before = ranges.get(at - 1);
                Range one = ranges.get(at);
                assertThat(one.slot() > before.slot() || one.block() > before.end())
                        .as("sorted, no neighbours: %s", ranges).isTrue();
            }
        }
        assertThat(told).hasSize(300).containsOnlyNulls();
        assertThat(reopened().ranges()).isEqualTo(bad.ranges());
        bad.removeSlot(1, told::add);
        endAll();
        assertThat(reopened().ranges()).allMatch(one -> one.slot() == 0);
    }

    @Test
    void shouldSayWhenItIsFull() throws StorageException {
        for (int i = 0; i < BadBlocks.MAX_RANGES; i++) {
            bad.add(new Range(0, 10L * i, 3), told::add);
        }
        endAll();
        assertThat(told).hasSize(BadBlocks.MAX_RANGES).containsOnlyNulls();
        told.clear();
        bad.add(new Range(2, 5, 1), told::add);
        bad.remove(new Range(0, 1, 1), told::add);
        assertThat(told).hasSize(2).allMatch(NoSpaceException.class::isInstance);
        assertThat(bad.overlaps(0, 1, 1)).as("still there").isTrue();
        bad.add(new Range(0, 3, 1), told::add);
        endAll();
        assertThat(told.getLast()).isNull();
        assertThat(reopened().ranges()).hasSize(BadBlocks.MAX_RANGES)
                .contains(new Range(0, 0, 4));
    }

    @Test
    void shouldNotForgetSilently() {
        for (SteppedDevice disk : disks) {
            disk.content().asSlice(VOLUME.description().layout().badBlocksBytes(), 128 << 10)
                    .fill((byte) 0);
        }
        assertThatThrownBy(this::reopened).isInstanceOf(MediumException.class)
                .hasMessageContaining("list of bad blocks").hasMessageContaining("lost");
    }
}
