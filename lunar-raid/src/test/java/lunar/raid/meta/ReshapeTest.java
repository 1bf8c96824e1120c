package lunar.raid.meta;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.block.AbortedException;
import lunar.block.BlockRequest;
import lunar.block.InvalidRequestException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.Reshape;
import lunar.raid.SlotState;
import lunar.raid.WalkOptions;
import lunar.raid.layout.Level;
import lunar.raid.meta.Assembly.Outcome;
import lunar.testkit.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Volumes that turn get a member more. */
class ReshapeTest {
    private static final WalkOptions TWO_ROWS = WalkOptions.DEFAULT.withBatch(2);

    private final long seed = Seed.next();
    private final List<TestVolume> open = new ArrayList<>();

    @AfterEach
    void closeAll() { open.forEach(TestVolume::close); }

    private TestVolume created(Level level, String title) throws StorageException {
        var test = new TestVolume("seed " + seed + " " + level + title, new Random(seed));
        open.add(test);
        test.create(level, level == Level.RAID0 ? 2 : level.minMembers(), 0);
        test.open();
        test.resync();
        return test;
    }

    /** As a shell does it. */
    private static void grow(TestVolume test) {
        int disk = test.disks.size() - 1;
        var failures = new ArrayList<StorageException>();
        test.volume.pause(() -> test.metadata.pause(failure -> {
            try {
                test.metadata = Growth.grow(test.metadata, "disk:" + disk, test.disks.get(disk),
                        test.uuids.get(disk), (slot, why) -> test.volume.fail(slot, why));
                test.volume.resume(test.metadata.record().shape(), test.metadata.raidMembers(),
                        test.raidOptions(), test.metadata.reshaping());
            } catch (StorageException e) {
                failures.add(e);
            }
        }));
        test.settle();
        assertThat(failures.isEmpty() || test.isCut()).as(test.title() + failures).isTrue();
    }

    private static void finish(TestVolume test, ReshapeHost host) {
        Reshape reshape = test.volume.reshape(TWO_ROWS);
        host.playUntilEnd(reshape);
        assertThat(reshape.failure()).as(test.title()).isNull();
        assertThat(test.metadata.record().reshape()).as(test.title()).isNull();
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID0", "RAID5", "RAID6"})
    void shouldTakeAMemberMore(Level level) throws StorageException {
        TestVolume test = created(level, "");
        long before = test.volume.blockCount();
        var host = new ReshapeHost(test);
        host.fill();
        int disk = test.add(level, TestVolume.STRIPES);
        grow(test);
        assertThat(test.volume.isReshaping()).isTrue();
        assertThat(test.volume.blockCount()).as("not before the end").isEqualTo(before);
        host.checkAll();
        finish(test, host);
        assertThat(test.volume.isReshaping()).isFalse();
        int data = test.volume.layout().dataUnits();
        assertThat(test.volume.blockCount()).isEqualTo(before / (data - 1) * data);
        host.checkAll();
        MemorySegment last = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
        assertThat(test.does(new BlockRequest().asRead(test.volume.blockCount() - 1, 1, last)))
                .isNull();
        assertThat(last.toArray(JAVA_BYTE)).containsOnly(0);
        if (level.isRedundant()) {
            test.checkRedundancy();
            test.fail(0);
            host.checkAll();
        }
        test.stop();
        test.open();
        assertThat(test.metadata.record().members().get(disk).uuid())
                .isEqualTo(test.uuids.get(disk));
        assertThat(test.metadata.reshaping()).isNull();
        host.checkAll();
        test.fill();
        test.check();
    }

    /** It is stopped in the middle, goes on, and loses as many members as the level survives. */
    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID5", "RAID6"})
    void shouldGoOnWithoutMembersThatFail(Level level) throws StorageException {
        for (int failing = 0; failing <= level.minMembers(); failing++) {
            for (int when = 0; when < 2; when++) {
                TestVolume test = created(level, " slot " + failing + " fails " + when);
                var host = new ReshapeHost(test);
                host.fill();
                test.add(level, TestVolume.STRIPES);
                grow(test);
                int failed = failing;
                var moved = new int[1];
                int after = 1 + when;
                Reshape reshape = test.volume.reshape(TWO_ROWS.withBatch(1)
                        .withPace((_, goOn) -> {
                            if (++moved[0] == after) {
                                test.disks.get(failed).breakDown();
                            }
                            goOn.run();
                        }));
                host.playUntilEnd(reshape);
                assertThat(reshape.failure()).as(test.title()).isNull();
                host.checkAll();
                assertThat(test.volume.state().slots().get(failed)).as(test.title())
                        .isEqualTo(SlotState.FAILED);
                if (level == Level.RAID6) {
                    test.fail((failed + 1) % test.volume.shape().members());
                    host.checkAll();
                }
                test.close();
                open.remove(test);
            }
        }
    }

    @Test
    void shouldStopAndGoOnWhereItWas() throws StorageException {
        TestVolume test = created(Level.RAID5, "");
        var host = new ReshapeHost(test);
        host.fill();
        test.add(Level.RAID5, TestVolume.STRIPES);
        grow(test);
        var first = new Reshape[1];
        first[0] = test.volume.reshape(TWO_ROWS.withPace((_, goOn) -> {
            first[0].cancel();
            goOn.run();
        }));
        host.playUntilEnd(first[0]);
        assertThat(first[0].failure()).isInstanceOf(AbortedException.class);
        assertThat(first[0].checkpoint()).isEqualTo(2);
        assertThat(test.metadata.record().reshape()).isEqualTo(new ReshapeRecord(3, 2, 0));
        host.checkAll();
        assertThatThrownBy(() -> test.volume.scrub(false, WalkOptions.DEFAULT))
                .hasMessageContaining("is being reshaped");
        test.stop();
        test.open();
        assertThat(test.volume.isReshaping()).isTrue();
        host.checkAll();
        finish(test, host);
        host.checkAll();
        test.checkRedundancy();
    }

    @Test
    void shouldWaitForBlocksThatCannotBeRead() throws StorageException {
        TestVolume test = created(Level.RAID5, "");
        var host = new ReshapeHost(test);
        host.fill();
        test.add(Level.RAID5, TestVolume.STRIPES);
        grow(test);
        long data = test.metadata.dataOffset();
        test.disks.get(0).spoil(data + 8, 1); // stripe 1, unit 1
        test.disks.get(1).spoil(data + 8, 1); // its parity
        Reshape reshape = test.volume.reshape(TWO_ROWS.withBatch(1));
        test.settle();
        assertThat(reshape.failure()).isInstanceOf(MediumException.class)
                .hasMessageContaining("write those that cannot");
        assertThat(test.volume.isReshaping()).isTrue();
        MemorySegment block = MemorySegment.ofArray(new byte[2 * 8 * TestVolume.BLOCK]);
        assertThat(test.does(new BlockRequest().asWrite(16, 16, block, true))).isNull();
        Reshape again = test.volume.reshape(TWO_ROWS);
        test.settle();
        assertThat(again.failure()).isNull();
        test.checkRedundancy();
    }

    @Test
    void shouldSayWhyAVolumeCannotBeReshaped() throws StorageException {
        TestVolume pairs = created(Level.RAID10, "");
        int disk = pairs.add(Level.RAID10, TestVolume.STRIPES);
        assertThatThrownBy(() -> Growth.check(pairs.metadata, "disk:2", pairs.disks.get(disk)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("is RAID 10: it cannot have one member more yet");
        TestVolume test = created(Level.RAID5, "");
        int small = test.add(Level.RAID5, TestVolume.STRIPES - 1);
        assertThatThrownBy(() -> Growth.check(test.metadata, "disk:3", test.disks.get(small)))
                .hasMessageStartingWith("disk:3 has 2.0 MiB in blocks of 512 bytes");
        test.add(Level.RAID5, TestVolume.STRIPES);
        grow(test);
        test.add(Level.RAID5, TestVolume.STRIPES);
        assertThatThrownBy(() -> Growth.check(test.metadata, "disk:5", test.disks.get(5)))
                .hasMessageContaining("is being reshaped: wait for the end");
    }

    /** The power is cut at each request to each disk while the volume is reshaped and written to. */
    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID0", "RAID5", "RAID6"})
    void shouldGoOnAfterACutAtEveryRequest(Level level) throws StorageException {
        int begun = 0;
        int staged = 0;
        int disks = level == Level.RAID0 ? 3 : level.minMembers() + 1;
        for (int victim = 0; victim < disks; victim++) {
            boolean isCut = true;
            for (int after = 0; isCut; after += 1 + victim) {
                TestVolume test = created(level, " disk " + victim + " cut at " + after);
                var host = new ReshapeHost(test);
                host.fill();
                test.add(level, TestVolume.STRIPES);
                test.disks.get(victim).cutAfter(after);
                grow(test);
                if (!test.isCut()) {
                    host.playUntilEnd(test.volume.reshape(TWO_ROWS.withBatch(1 + after % 3)));
                }
                isCut = test.isCut();
                host.crash();
                test.restart();
                test.consent = Consent.FORCED;
                boolean isLost = level.isRedundant() && after % 2 == 1;
                int lost = (victim + after / 2) % disks;
                Outcome outcome = isLost ? test.assembly(lost) : test.assembly();
                assertThat(outcome).as(test.title() + outcome)
                        .isInstanceOf(Outcome.Assembled.class);
                ReshapeRecord was = ((Outcome.Assembled) outcome).composition().volume().reshape();
                begun += was == null ? 0 : 1;
                staged += was == null || was.stagedRows() == 0 ? 0 : 1;
                if (isLost) {
                    test.open(lost);
                } else {
                    test.open();
                }
                goOn(test, host, isLost);
                test.close();
                open.remove(test);
            }
        }
        assertThat(begun).isGreaterThan(20);
        assertThat(staged).isGreaterThan(5);
    }

    private static void goOn(TestVolume test, ReshapeHost host, boolean isLost) {
        if (isLost && !test.metadata.badBlocks().ranges().isEmpty()) {
            return; // a crash with a loss may take what was being written
        }
        host.checkAll();
        if (test.volume.isReshaping()) {
            finish(test, host);
        }
        host.checkAll();
        if (test.volume.layout().shape().level().isRedundant() && !isLost) {
            test.checkRedundancy();
        }
    }
}
