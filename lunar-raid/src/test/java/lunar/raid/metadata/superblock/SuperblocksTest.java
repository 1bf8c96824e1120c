package lunar.raid.metadata.superblock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.block.BlockRequest.Operation;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.Candidate;
import lunar.raid.metadata.Composition;
import lunar.raid.metadata.QueuedDevice;
import lunar.raid.metadata.Volumes;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.Seed;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SuperblocksTest {
    private static final VolumeRecord VOLUME = Volumes.volume(Level.RAID5, 3, Consistency.JOURNAL);
    private static final int BLOCKS = 4096 + (2 << 20) / 512;
    private static final int DISK_BYTES = BLOCKS * 512;

    private final List<SteppedDevice> disks = new ArrayList<>();
    private final MemberSet members = new MemberSet(3, (slot, _) -> drop(slot));
    private final List<StorageException> told = new ArrayList<>();
    private Superblocks superblocks;

    private void drop(int slot) { members.drop(slot); }

    @BeforeEach
    void create() throws StorageException {
        for (int slot = 0; slot < 3; slot++) {
            disks.add(new SteppedDevice(BLOCKS));
            new SuperblockStore(disks.get(slot)).write(new Superblock(1, slot, VOLUME));
            members.add(slot, disks.get(slot));
        }
        superblocks = Superblocks.open(members, VOLUME);
    }

    private void endAll() {
        while (disks.stream().anyMatch(disk -> !disk.pending().isEmpty())) {
            disks.forEach(SteppedDevice::endAll);
        }
    }

    private VolumeRecord on(int slot) {
        SuperblockReading reading = new SuperblockStore(disks.get(slot)).read();
        Superblock found = ((SuperblockReading.Found) reading).superblock();
        assertThat(found.index()).isEqualTo(slot);
        return found.volume();
    }

    private static VolumeRecord failed(VolumeRecord record, int slot) {
        return record.with(slot, record.members().get(slot).as(SlotState.FAILED));
    }

    @Test
    void shouldStartAndStop() throws StorageException {
        superblocks.start(record -> record);
        for (int slot = 0; slot < 3; slot++) {
            assertThat(on(slot).events()).isEqualTo(10);
            assertThat(on(slot).clean()).isFalse();
        }
        superblocks.stop(told::add);
        assertThat(disks.get(0).pending()).extracting(step -> step.request().operation())
                .as("what was written before comes first").containsExactly(Operation.FLUSH);
        endAll();
        assertThat(on(2).clean()).isTrue();
        assertThat(on(2).events()).isEqualTo(11);
        assertThat(told).hasSize(1).containsOnlyNulls();
    }

    @Test
    void shouldNoteFailuresOnTheOthersOnly() {
        superblocks.change(record -> failed(record, 1), told::add);
        endAll();
        assertThat(on(0).members().get(1).state()).isEqualTo(SlotState.FAILED);
        assertThat(on(2)).isEqualTo(on(0)).isEqualTo(superblocks.record());
        assertThat(on(1)).as("it may not answer").isEqualTo(VOLUME);
        assertThat(on(0).coveredSince()).isEqualTo(7);
    }

    @Test
    void shouldShareAWriteAndNeverBeginTheNextBefore() {
        for (int i = 1; i <= 10; i++) {
            long stripe = i;
            superblocks.change(record -> record.withResyncNext(stripe), told::add);
        }
        disks.get(0).endAll();
        assertThat(on(0).events()).as("waits for the others").isEqualTo(7);
        endAll();
        assertThat(told).hasSize(10).containsOnlyNulls();
        assertThat(on(1).events()).isEqualTo(9);
        assertThat(on(1).resyncNext()).isEqualTo(10);
    }

    @Test
    void shouldGoOnWithoutAMemberThatDoesNotTakeIt() {
        superblocks.change(record -> record.withResyncNext(3), told::add);
        disks.get(0).endAll();
        disks.get(1).endAll();
        disks.get(2).pending().getFirst().fail(new MediumException("bad"));
        endAll();
        assertThat(told).hasSize(1).containsOnlyNulls();
        assertThat(on(0).resyncNext()).isEqualTo(3);
        assertThat(on(2)).isEqualTo(VOLUME);
    }

    @Test
    void shouldRecordSinceWhichEventAMemberIsFailed() {
        superblocks.change(record -> failed(record, 1), told::add);
        endAll();
        assertThat(on(0).members().get(1).failedSince()).isEqualTo(on(0).events());
    }

    /** The failure came later than the first change that the member has missed, and may come after its use elsewhere. */
    @Test
    void shouldNotDateTheFailureOfAMemberThatHasMissedAChangeBefore() {
        superblocks.change(record -> record.withResyncNext(3), told::add);
        disks.get(2).pending().getFirst().fail(new MediumException("bad"));
        members.drop(2);
        endAll();
        superblocks.change(record -> record.withResyncNext(4), told::add);
        endAll();
        superblocks.change(record -> failed(record, 2), told::add);
        endAll();
        assertThat(on(0).members().get(2).state()).isEqualTo(SlotState.FAILED);
        assertThat(on(0).members().get(2).failedSince()).isZero();
        superblocks.change(record -> failed(record, 1), told::add);
        endAll();
        assertThat(on(0).members().get(1).failedSince()).isEqualTo(on(0).events());
    }

    /** Members with volatile caches; the power is cut in the middle of changes. */
    @Test
    void shouldAssembleAfterACutAtAnyMoment() throws StorageException {
        long seed = Seed.next();
        var random = new Random(seed);
        var cut = new ArrayList<QueuedDevice>();
        for (int slot = 0; slot < 3; slot++) {
            QueuedDevice disk = QueuedDevice.create(DISK_BYTES, random);
            new SuperblockStore(disk).write(new Superblock(1, slot, VOLUME));
            cut.add(disk);
        }
        long stable = VolumeRecord.IN_SYNC;
        long wanted = VolumeRecord.IN_SYNC;
        for (int run = 0; run < 100; run++) {
            int victim = random.nextInt(3);
            cut.set(victim, cut.get(victim).afterCut(random.nextInt(30)));
            var candidates = new ArrayList<Candidate>();
            for (int slot = 0; slot < 3; slot++) {
                candidates.add(Candidate.of("disk:" + slot, cut.get(slot)));
            }
            if (cut.get(victim).isCut()) {
                cut.set(victim, cut.get(victim).afterCut(Long.MAX_VALUE));
                continue;
            }
            Outcome outcome = Assembly.of(candidates);
            assertThat(outcome).as("seed %d run %d", seed, run)
                    .isInstanceOf(Outcome.Assembled.class);
            Composition found = ((Outcome.Assembled) outcome).composition();
            assertThat(found.inSync()).as("seed %d run %d: %s", seed, run, found)
                    .isEqualTo(0b111);
            assertThat(found.volume().resyncNext()).as("seed %d run %d", seed, run)
                    .isBetween(stable, wanted);
            stable = found.volume().resyncNext();
            wanted = Math.max(wanted, stable);
            var set = new MemberSet(3, (_, _) -> {});
            for (int slot = 0; slot < 3; slot++) {
                set.add(slot, cut.get(slot));
            }
            Superblocks changing;
            try {
                changing = Superblocks.open(set, found.volume());
            } catch (StorageException e) {
                restart(cut);
                continue;
            }
            var reached = new long[]{stable};
            for (int step = 0; step < 200 && cut.stream().noneMatch(QueuedDevice::isCut); step++) {
                if (random.nextInt(4) == 0) {
                    wanted++;
                    long mine = wanted;
                    changing.change(record -> record.withResyncNext(mine), failure -> {
                        if (failure == null) {
                            reached[0] = Math.max(reached[0], mine);
                        }
                    });
                } else {
                    QueuedDevice disk = cut.get(random.nextInt(3));
                    if (disk.pending() > 0) {
                        disk.step(random);
                    }
                }
            }
            stable = reached[0];
            restart(cut);
        }
    }

    private static void restart(List<QueuedDevice> disks) {
        disks.replaceAll(disk -> disk.afterCut(Long.MAX_VALUE));
    }
}
