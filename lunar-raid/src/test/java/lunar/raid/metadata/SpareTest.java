package lunar.raid.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.ScanOptions;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SpareTest {
    private final long seed = Seed.next();

    private TestVolume created(Level level, int spares) throws StorageException {
        var test = new TestVolume("seed " + seed + " " + level, new Random(seed));
        test.create(level, 4, spares);
        test.open();
        test.resync();
        test.fill();
        return test;
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldStepInForAMemberThatFailed(Level level) throws StorageException {
        TestVolume test = created(level, 1);
        assertThat(test.metadata.spares()).containsExactly(
                new Spare(test.uuids.get(4), TestVolume.STRIPES * 8, false));
        test.fail(2);
        BlockDevice spare = test.metadata.takeSpare(2).orElseThrow();
        assertThat(spare).isSameAs(test.disks.get(4));
        assertThat(test.metadata.spares()).as("taken").isEmpty();
        test.volume.replace(2, spare, test.metadata.dataOffset(), ScanOptions.DEFAULT);
        test.settle();
        assertThat(test.metadata.record().isWhole()).isTrue();
        assertThat(test.metadata.record().members()).hasSize(4);
        assertThat(test.metadata.record().members().get(2).uuid()).isEqualTo(test.uuids.get(4));
        test.stop();
        test.open();
        assertThat(test.composition.slots().get(2).candidate()).hasValue(4);
        assertThat(test.composition.leftOut()).singleElement()
                .satisfies(one -> assertThat(one.candidate()).isEqualTo(2));
        test.check();
        test.checkRedundancy();
    }

    @Test
    void shouldTakeTheSmallestThatFits() throws StorageException {
        TestVolume test = created(Level.RAID5, 0);
        for (int stripes : List.of(9, 7, 8)) {
            int disk = test.add(Level.RAID5, stripes);
            test.metadata.addSpare("disk:" + disk, test.disks.get(disk), test.uuids.get(disk),
                    failure -> assertThat(failure).isNull());
            test.settle();
        }
        int small = test.add(Level.RAID5, 5);
        assertThatThrownBy(() -> test.metadata.addSpare("disk:small", test.disks.get(small),
                test.uuids.get(small), _ -> {}))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("disk:small is too small for a spare");
        assertThatThrownBy(() -> test.metadata.takeSpare(1)).hasMessage("slot 1 is ACTIVE");
        test.fail(1);
        assertThat(test.metadata.takeSpare(1)).containsSame(test.disks.get(5));
    }

    @Test
    void shouldRefuseSparesWhereNothingCanBeRebuilt() throws StorageException {
        var test = new TestVolume("seed " + seed, new Random(seed));
        assertThatThrownBy(() -> test.create(Level.RAID0, 4, 1))
                .hasMessageContaining("a spare is of no use to it");
    }

    @Test
    void shouldKnowSparesThatAreAwayAndTakeThemBack() throws StorageException {
        TestVolume test = created(Level.RAID5, 2);
        test.stop();
        test.open(4);
        assertThat(test.composition.spares()).containsExactly(OptionalInt.empty(),
                OptionalInt.of(5));
        assertThat(test.metadata.spares()).extracting(Spare::isAway).containsExactly(true, false);
        test.fail(1);
        test.metadata.returnSpare(test.uuids.get(4), test.disks.get(4));
        test.settle();
        assertThat(test.metadata.spares()).extracting(Spare::isAway).containsOnly(false);
        assertThat(test.metadata.takeSpare(1)).containsSame(test.disks.get(4));
        assertThatThrownBy(() -> test.metadata.removeSpare(test.uuids.get(4), _ -> {}))
                .as("it is being taken").hasMessageContaining("is no spare");
        var told = new ArrayList<StorageException>();
        test.metadata.removeSpare(test.uuids.get(5), told::add);
        test.settle();
        assertThat(told).hasSize(1).containsOnlyNulls();
        assertThat(test.metadata.spares()).isEmpty();
    }

    /** A spare that does not take its superblock is no reason to stop, nor to wait for it. */
    @Test
    void shouldGoOnWithoutASpareThatBreaks() throws StorageException {
        TestVolume test = created(Level.RAID5, 1);
        test.disks.get(4).breakDown();
        test.fail(1);
        assertThat(test.metadata.record().members().get(1).state()).isEqualTo(SlotState.FAILED);
        assertThat(test.volume.state().serving()).isTrue();
        assertThat(test.metadata.spares()).extracting(Spare::isAway).containsExactly(true);
        assertThat(test.metadata.takeSpare(1)).isEqualTo(Optional.empty());
        test.check();
    }

    /** The spare fails before the volume knows of it: the slot stays failed, and the next one may come. */
    @Test
    void shouldTakeAnotherWhereTheFirstBreaks() throws StorageException {
        TestVolume test = created(Level.RAID5, 2);
        test.fail(1);
        BlockDevice first = test.metadata.takeSpare(1).orElseThrow();
        ((QueuedDevice) first).breakDown();
        test.settle();
        assertThat(test.volume.state().slots().get(1)).isEqualTo(SlotState.FAILED);
        BlockDevice second = test.metadata.takeSpare(1).orElseThrow();
        assertThat(second).isNotSameAs(first);
        test.volume.replace(1, second, test.metadata.dataOffset(), ScanOptions.DEFAULT);
        test.settle();
        assertThat(test.metadata.record().isWhole()).isTrue();
        assertThat(test.metadata.spares()).singleElement()
                .satisfies(spare -> assertThat(spare.isAway()).isTrue());
        test.check();
    }

    /** The slot's failure is not stable yet when the spare is taken, and is noted a second time afterwards. */
    @Test
    void shouldWaitUntilTheFailureIsStable() throws StorageException {
        TestVolume test = created(Level.RAID5, 1);
        test.volume.fail(1, new DeviceGoneException("pulled"));
        test.volume.fail(1, new DeviceGoneException("pulled again"));
        BlockDevice spare = test.metadata.takeSpare(1).orElseThrow();
        test.volume.replace(1, spare, test.metadata.dataOffset(), ScanOptions.DEFAULT);
        test.settle();
        assertThat(test.volume.state().slots()).containsOnly(SlotState.ACTIVE);
        assertThat(test.metadata.record().isWhole()).as(test.metadata.record().toString())
                .isTrue();
        test.fill();
        test.stop();
        test.degradedStart = DegradedStart.ALLOWED;
        test.open(0, 1);
        assertThat(test.metadata.record().members().get(1).uuid()).isEqualTo(test.uuids.get(4));
        test.check();
    }

    enum Act {
        ADD, REMOVE, TAKE
    }

    /** The power is cut at each request to each disk while a spare comes, goes, or steps in. */
    @ParameterizedTest
    @EnumSource(Act.class)
    void shouldBeAValidVolumeAfterACutAtEveryRequest(Act act) throws StorageException {
        int cuts = 0;
        for (Level level : List.of(Level.RAID1, Level.RAID5)) {
            for (int victim = 0; victim < 5; victim++) {
                boolean isCut = true;
                for (int after = 0; isCut; after++) {
                    isCut = cutDuring(act, level, victim, after);
                    cuts += isCut ? 1 : 0;
                }
            }
        }
        assertThat(cuts).isGreaterThan(act == Act.REMOVE ? 12 : 50);
    }

    private boolean cutDuring(Act act, Level level, int victim, int after)
            throws StorageException {
        var test = new TestVolume("seed " + seed + " " + act + " " + level + " disk " + victim
                + " cut at " + after, new Random(seed + after));
        test.create(level, 4, act == Act.ADD ? 0 : 1);
        if (act == Act.ADD) {
            test.add(level, TestVolume.STRIPES);
        }
        test.open(act == Act.ADD ? new int[]{4} : new int[0]);
        test.resync();
        test.fill();
        if (act == Act.TAKE) {
            test.fail(1);
        }
        test.disks.get(victim).cutAfter(after);
        var told = new ArrayList<StorageException>();
        try {
            switch (act) {
                case ADD -> test.metadata.addSpare("disk:4", test.disks.get(4), test.uuids.get(4),
                        told::add);
                case REMOVE -> test.metadata.removeSpare(test.uuids.get(4), told::add);
                case TAKE -> test.metadata.takeSpare(1).ifPresent(spare -> test.volume.replace(1,
                        spare, test.metadata.dataOffset(), ScanOptions.DEFAULT));
            }
        } catch (StorageException e) {
            assertThat(test.isCut()).as(test.title() + e).isTrue();
        }
        test.settle();
        boolean isCut = test.isCut();
        test.restart();
        Outcome outcome = test.assembly();
        assertThat(outcome).as(test.title() + outcome).isInstanceOf(Outcome.Assembled.class);
        test.open();
        VolumeRecord record = test.metadata.record();
        if (!told.isEmpty()) {
            assertThat(record.spares()).as(test.title()).hasSize(act == Act.ADD ? 1 : 0);
        }
        test.check();
        test.resync();
        test.makeWhole();
        test.check();
        test.checkRedundancy();
        test.close();
        return isCut;
    }
}
