package lunar.raid.metadata;

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
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.BackgroundScan;
import lunar.raid.ScanOptions;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.testkit.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Volumes that turn get a member more. */
class ReshapeTest {
    private static final ScanOptions TWO_ROWS = ScanOptions.DEFAULT.withBatch(2);

    private final long seed = Seed.next();
    private final List<TestVolume> open = new ArrayList<>();

    @AfterEach
    void closeAll() { open.forEach(TestVolume::close); }

    private TestVolume created(Level level, String title) throws StorageException {
        return created(level, Math.max(2, level.minMembers()), title);
    }

    private TestVolume created(Level level, int members, String title) throws StorageException {
        return created(level, members, Creation.consistencyOf(level), title);
    }

    private TestVolume created(Level level, int members, Consistency consistency, String title)
            throws StorageException {
        var test = new TestVolume("seed " + seed + " " + level + title, new Random(seed));
        open.add(test);
        test.consistency = consistency;
        test.create(level, members, 0);
        test.open();
        test.resync();
        return test;
    }

    private static void finish(TestVolume test, ReshapeHost host) {
        BackgroundScan reshape = test.volume.reshape(TWO_ROWS);
        host.playUntilEnd(reshape);
        assertThat(reshape.failure()).as(test.title()).isNull();
        assertThat(test.metadata.record().reshape()).as(test.title()).isNull();
    }

    @ParameterizedTest
    @CsvSource({"RAID0, 2", "RAID5, 3", "RAID6, 4", "RAID10, 2", "RAID10, 3", "RAID10, 4",
            "RAID10, 5"})
    void shouldTakeAMemberMore(Level level, int members) throws StorageException {
        TestVolume test = created(level, members, "");
        long before = test.volume.blockCount();
        var host = new ReshapeHost(test);
        host.fill();
        int disk = test.add(level, TestVolume.STRIPES);
        test.grow();
        assertThat(test.volume.isReshaping()).isTrue();
        assertThat(test.volume.blockCount()).as("not before the end").isEqualTo(before);
        host.checkAll();
        finish(test, host);
        assertThat(test.volume.isReshaping()).isFalse();
        int data = level == Level.RAID10 ? members + 1 : test.volume.layout().dataUnits();
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

    /** Stripes of both layouts have different blocks: parity is compared when all blocks are in the new one. */
    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID5", "RAID6"})
    void shouldReshapeBeforeResyncOfParity(Level level) throws StorageException {
        TestVolume test = created(level, " with losses");
        var host = new ReshapeHost(test);
        host.fill();
        test.add(level, TestVolume.STRIPES);
        test.grow();
        for (int slot = 0; slot < test.volume.shape().members(); slot++) {
            assertThat(test.volume.fail(slot, new LostWritesException("its cache"))).isTrue();
        }
        test.settle();
        assertThat(test.volume.state().resyncedStripes()).as(test.title()).hasValue(0);
        assertThat(test.volume.reshapesFirst()).isTrue();
        assertThatThrownBy(() -> test.volume.resync(ScanOptions.DEFAULT))
                .isInstanceOf(IllegalStateException.class);
        finish(test, host);
        test.resync();
        test.checkRedundancy();
    }

    /** It is stopped in the middle, goes on, and loses as many members as the level survives. */
    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID5", "RAID6", "RAID10"})
    void shouldGoOnWithoutMembersThatFail(Level level) throws StorageException {
        for (int failing = 0; failing <= level.minMembers(); failing++) {
            for (int when = 0; when < 2; when++) {
                TestVolume test = created(level, " slot " + failing + " fails " + when);
                var host = new ReshapeHost(test);
                host.fill();
                test.add(level, TestVolume.STRIPES);
                test.grow();
                int failed = failing;
                var moved = new int[1];
                int after = 1 + when;
                BackgroundScan reshape = test.volume.reshape(TWO_ROWS.withBatch(1)
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

    /** Before 2 and 3 are a pair, after 4 and 0 are, and with five members all neighbours. */
    @Test
    void shouldOutliveNoMoreThanBothLayoutsDo() throws StorageException {
        for (int[] way : new int[][]{{4, 1, 2}, {4, 4, 0}, {4, 2, 3}, {5, 1, 2}, {5, 4, 0}}) {
            TestVolume test = created(Level.RAID10, way[0], " of " + way[0]);
            var host = new ReshapeHost(test);
            host.fill();
            test.add(Level.RAID10, TestVolume.STRIPES);
            test.grow();
            test.fail(way[1]);
            BackgroundScan part = begun(test, host, 2);
            assertThat(part.failure()).isInstanceOf(AbortedException.class);
            assertThat(test.volume.survives(1L << way[1] | 1L << way[2])).isFalse();
            test.degradedStart = DegradedStart.FORCED;
            assertThat(test.assembly(way[1], way[2]).toString()).contains(
                    "RAID 10, which is being reshaped, needs one of each pair of before and of");
            test.restart();
            test.open(way[1]);
            test.resync();
            host.checkAll();
            finish(test, host);
            boolean isPair = way[0] == 4 || way[1] == 2 && way[2] == 3;
            assertThat(test.volume.survives(1L << way[1] | 1L << way[2])).as(test.title())
                    .isEqualTo(!isPair);
            test.fail(way[2]);
            assertThat(test.volume.state().serving()).as(test.title()).isEqualTo(!isPair);
            if (!isPair) {
                host.checkAll();
            }
        }
    }

    private static BackgroundScan begun(TestVolume test, ReshapeHost host, int windows) {
        var reshape = new BackgroundScan[1];
        var left = new int[]{windows};
        reshape[0] = test.volume.reshape(TWO_ROWS.withPace((_, goOn) -> {
            if (--left[0] == 0) {
                reshape[0].cancel();
            }
            goOn.run();
        }));
        host.playUntilEnd(reshape[0]);
        return reshape[0];
    }

    /** Copies that a crash has left different are made alike where they are, and then they move. */
    @Test
    void shouldCompareCopiesInBothLayoutsFirst() throws StorageException {
        TestVolume test = created(Level.RAID10, 3, "");
        var host = new ReshapeHost(test);
        host.fill();
        test.add(Level.RAID10, TestVolume.STRIPES);
        test.grow();
        begun(test, host, 1);
        long chunk = test.volume.layout().chunkBlocks();
        assertThat(test.metadata.record().reshape()).isEqualTo(new ReshapeRecord(3, 2, 0));
        for (long block : new long[]{chunk, test.volume.blockCount() - 1}) {
            MemorySegment data = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
            assertThat(test.does(new BlockRequest().asWrite(block, 1, data, true))).isNull();
        }
        test.restart();
        long moved = test.metadata.dataOffset(); // stripe 1: row 0 of slots 2 and 3
        long kept = moved + 5 * chunk; // stripe 8: row 5 of slots 1 and 2
        MemorySegment old = MemorySegment.ofArray(new byte[(int) chunk * TestVolume.BLOCK]);
        old.fill((byte) 1);
        test.disks.get(3).write(moved, old);
        test.disks.get(2).write(kept, old);
        test.open();
        assertThat(test.volume.state().resyncedStripes()).hasValue(0);
        assertThatThrownBy(() -> test.volume.reshape(TWO_ROWS))
                .hasMessageContaining("a background scan is under way, or due");
        test.resync();
        assertThat(chunk(test, 3, moved)).isEqualTo(chunk(test, 2, moved));
        assertThat(chunk(test, 2, kept)).isEqualTo(chunk(test, 1, kept));
    }

    private static byte[] chunk(TestVolume test, int disk, long at) throws StorageException {
        var chunk = new byte[TestVolume.CHUNK_BYTES];
        test.disks.get(disk).read(at, MemorySegment.ofArray(chunk));
        return chunk;
    }

    /** No bit tells what a member has missed of a reshape: it gets all. */
    @ParameterizedTest
    @CsvSource({"RAID5, 3, 1", "RAID10, 3, 1", "RAID10, 4, 3", "RAID10, 4, 4"})
    void shouldGiveAllToAMemberThatWasAway(Level level, int members, int slot)
            throws StorageException {
        TestVolume test = created(level, members, " slot " + slot);
        var host = new ReshapeHost(test);
        host.fill();
        test.add(level, TestVolume.STRIPES);
        test.grow();
        begun(test, host, 1);
        test.fail(slot);
        finish(test, host);
        test.stop();
        test.open();
        assertThat(test.composition.slots().get(slot).use()).isEqualTo(Composition.Use.STALE);
        test.makeWhole();
        test.checkRedundancy();
        test.fail((slot + 1) % (members + 1));
        host.checkAll();
    }

    @Test
    void shouldStopAndGoOnWhereItWas() throws StorageException {
        TestVolume test = created(Level.RAID5, "");
        var host = new ReshapeHost(test);
        host.fill();
        test.add(Level.RAID5, TestVolume.STRIPES);
        test.grow();
        var first = new BackgroundScan[1];
        first[0] = test.volume.reshape(TWO_ROWS.withPace((_, goOn) -> {
            first[0].cancel();
            goOn.run();
        }));
        host.playUntilEnd(first[0]);
        assertThat(first[0].failure()).isInstanceOf(AbortedException.class);
        assertThat(first[0].checkpoint()).isEqualTo(2);
        assertThat(test.metadata.record().reshape()).isEqualTo(new ReshapeRecord(3, 2, 0));
        host.checkAll();
        assertThatThrownBy(() -> test.volume.scrub(false, ScanOptions.DEFAULT))
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
        test.grow();
        long data = test.metadata.dataOffset();
        test.disks.get(0).spoil(data + 8, 1); // stripe 1, unit 1
        test.disks.get(1).spoil(data + 8, 1); // its parity
        BackgroundScan reshape = test.volume.reshape(TWO_ROWS.withBatch(1));
        test.settle();
        assertThat(reshape.failure()).isInstanceOf(MediumException.class)
                .hasMessageContaining("write those that cannot");
        assertThat(test.volume.isReshaping()).isTrue();
        MemorySegment block = MemorySegment.ofArray(new byte[2 * 8 * TestVolume.BLOCK]);
        assertThat(test.does(new BlockRequest().asWrite(16, 16, block, true))).isNull();
        BackgroundScan again = test.volume.reshape(TWO_ROWS);
        test.settle();
        assertThat(again.failure()).isNull();
        test.checkRedundancy();
    }

    @Test
    void shouldSayWhyAVolumeCannotBeReshaped() throws StorageException {
        for (int members = 2; members <= 3; members++) {
            TestVolume large = new TestVolume("seed " + seed, new Random(seed));
            open.add(large);
            large.chunkBytes = 512 << 10;
            large.create(Level.RAID10, members, 0);
            large.open();
            large.resync();
            QueuedDevice disk = large.disks.get(large.add(Level.RAID10, TestVolume.STRIPES));
            if (members == 2) {
                assertThatThrownBy(() -> Growth.check(large.metadata, "disk:2", disk))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageEndingWith("has chunks of 512 KiB: only with chunks of up to"
                                + " 256 KiB it can have an odd number of members");
            } else {
                Growth.check(large.metadata, "disk:3", disk);
            }
        }
        TestVolume sums = new TestVolume("seed " + seed, new Random(seed));
        open.add(sums);
        sums.checksums = true;
        sums.create(Level.RAID10, 2, 0);
        sums.open();
        sums.resync();
        QueuedDevice more = sums.disks.get(sums.add(Level.RAID10, TestVolume.STRIPES));
        assertThatThrownBy(() -> Growth.check(sums.metadata, "disk:2", more))
                .hasMessageContaining("has checksums: it cannot have one member more yet");
        TestVolume test = created(Level.RAID5, "");
        int small = test.add(Level.RAID5, TestVolume.STRIPES - 1);
        assertThatThrownBy(() -> Growth.check(test.metadata, "disk:3", test.disks.get(small)))
                .hasMessageStartingWith("disk:3 has 2.0 MiB in blocks of 512 bytes");
        test.add(Level.RAID5, TestVolume.STRIPES);
        test.grow();
        test.add(Level.RAID5, TestVolume.STRIPES);
        assertThatThrownBy(() -> Growth.check(test.metadata, "disk:5", test.disks.get(5)))
                .hasMessageContaining("is being reshaped: wait for the end");
    }

    /** The power is cut at each request to each disk while the volume is reshaped and written to. */
    @ParameterizedTest
    @CsvSource({"RAID0, 2, NONE", "RAID5, 3, JOURNAL", "RAID6, 4, JOURNAL", "RAID10, 2, BITMAP",
            "RAID10, 3, BITMAP", "RAID10, 4, NONE"})
    void shouldGoOnAfterACutAtEveryRequest(Level level, int members, Consistency consistency)
            throws StorageException {
        int begun = 0;
        int staged = 0;
        int disks = members + 1;
        for (int victim = 0; victim < disks; victim++) {
            boolean isCut = true;
            for (int after = 0; isCut; after += 1 + victim) {
                TestVolume test = created(level, members, consistency,
                        " disk " + victim + " cut at " + after);
                var host = new ReshapeHost(test);
                host.fill();
                test.add(level, TestVolume.STRIPES);
                test.disks.get(victim).cutAfter(after);
                test.grow();
                if (!test.isCut()) {
                    host.playUntilEnd(test.volume.reshape(TWO_ROWS.withBatch(1 + after % 3)));
                }
                isCut = test.isCut();
                host.crash();
                test.restart();
                test.degradedStart = DegradedStart.FORCED;
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
        test.resync();
        if (test.volume.isReshaping()) {
            finish(test, host);
        }
        host.checkAll();
        if (test.volume.layout().shape().level().isRedundant() && !isLost) {
            test.checkRedundancy();
        }
    }
}
