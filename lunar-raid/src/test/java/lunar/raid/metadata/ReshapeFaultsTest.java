package lunar.raid.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import lunar.block.AbortedException;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.BackgroundScan;
import lunar.raid.ScanOptions;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Failures while a volume gets another member, and their outcome. */
class ReshapeFaultsTest {
    private static final ScanOptions ONE_ROW = ScanOptions.DEFAULT.withBatch(1);
    private static final UUID OWN = new UUID(7, 7);
    /** Of the volumes with a journal on a device of its own that disk. */
    private static final int JOURNAL = 3;

    private final long seed = Seed.next();
    private final List<TestVolume> open = new ArrayList<>();

    @AfterEach
    void closeAll() { open.forEach(TestVolume::close); }

    private TestVolume test(String title) {
        var test = new TestVolume("seed " + seed + " " + title, new Random(seed));
        open.add(test);
        return test;
    }

    private TestVolume created(Level level, String title) throws StorageException {
        TestVolume test = test(level + title);
        test.create(level, level == Level.RAID0 ? 2 : level.minMembers(), 0);
        test.open();
        test.resync();
        return test;
    }

    /** A RAID 5 with its journal on a device of its own. */
    private TestVolume withOwnJournal() throws StorageException {
        TestVolume test = test("own journal");
        var table = new ArrayList<Creation.Member>();
        for (int i = 0; i < JOURNAL; i++) {
            int disk = test.add(Level.RAID1, TestVolume.STRIPES);
            table.add(new Creation.Member("disk:" + i, test.uuids.get(disk),
                    test.disks.get(disk)));
        }
        var wish = new Creation.Wish(test.uuid(), "music", 0, Level.RAID5, Consistency.JOURNAL,
                TestVolume.CHUNK_BYTES, 1 << 20, test.uuid(), OWN);
        VolumeRecord record = Creation.create(wish, table, false);
        var journal = QueuedDevice.create(1 << 20, test.random);
        Creation.createJournal(record, "disk:journal", journal, false);
        test.disks.add(journal);
        test.uuids.add(OWN);
        test.journal = journal;
        test.open(JOURNAL);
        test.resync();
        return test;
    }

    /** Moves so many windows of a row, then ends. */
    private static BackgroundScan move(TestVolume test, int windows) {
        var moved = new int[1];
        var begun = new BackgroundScan[1];
        begun[0] = test.volume.reshape(ONE_ROW.withPace((_, goOn) -> {
            if (++moved[0] == windows) {
                begun[0].cancel();
            }
            goOn.run();
        }));
        test.settle();
        return begun[0];
    }

    private static void finish(TestVolume test, ReshapeHost host) {
        BackgroundScan reshape = test.volume.reshape(ONE_ROW);
        host.playUntilEnd(reshape);
        assertThat(reshape.failure()).as(test.title()).isNull();
        assertThat(test.volume.isReshaping()).isFalse();
        host.checkAll();
    }

    @Test
    void shouldKeepTheJournalThatIsOnADeviceOfItsOwn() throws StorageException {
        TestVolume test = withOwnJournal();
        var host = new ReshapeHost(test);
        host.fill();
        test.add(Level.RAID1, TestVolume.STRIPES);
        test.grow();
        assertThat(test.metadata.record().description().journalDevice()).isEqualTo(OWN);
        assertThat(move(test, 2).failure()).isInstanceOf(AbortedException.class);
        host.crash();
        test.restart();
        test.journal = test.disks.get(JOURNAL);
        test.open(JOURNAL);
        host.checkAll();
        finish(test, host);
        test.checkRedundancy();
    }

    @Test
    void shouldNotGrowWhereTheJournalsDeviceHasFailed() throws StorageException {
        TestVolume test = withOwnJournal();
        test.disks.get(JOURNAL).breakDown();
        MemorySegment block = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
        assertThat(test.does(new BlockRequest().asWrite(0, 1, block, true))).isNotNull();
        int disk = test.add(Level.RAID1, TestVolume.STRIPES);
        assertThatThrownBy(
                () -> Growth.check(test.metadata, "disk:new", test.disks.get(disk)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("journal").hasMessageNotContaining("\n");
    }

    @Test
    void shouldNotGoOnWithoutAJournal() throws StorageException {
        TestVolume test = withOwnJournal();
        var host = new ReshapeHost(test);
        host.fill();
        test.add(Level.RAID1, TestVolume.STRIPES);
        test.grow();
        assertThat(move(test, 2).failure()).isInstanceOf(AbortedException.class);
        test.stop();
        test.journal = null;
        test.options = OpenOptions.DEFAULT.withJournalReset(JournalReset.withoutJournal());
        assertThatThrownBy(() -> test.open(JOURNAL)).isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("is being reshaped").hasMessageNotContaining("\n");
        test.journal = QueuedDevice.create(1 << 20, test.random);
        test.disks.set(JOURNAL, test.journal);
        test.options = OpenOptions.DEFAULT
                .withJournalReset(JournalReset.to(new UUID(8, 8), new UUID(9, 9)));
        test.open(JOURNAL);
        host.checkAll();
        finish(test, host);
        test.checkRedundancy();
    }

    /** New stripes would only lie where nothing is any more. */
    @Test
    void shouldLeaveAWindowWhereItIsThatCannotBeWritten() throws StorageException {
        TestVolume test = created(Level.RAID0, "");
        var host = new ReshapeHost(test);
        host.fill();
        int fresh = test.add(Level.RAID0, TestVolume.STRIPES);
        test.grow();
        assertThat(move(test, 2).failure()).isInstanceOf(AbortedException.class);
        test.disks.get(fresh).breakDown();
        BackgroundScan reshape = test.volume.reshape(ONE_ROW);
        test.settle();
        assertThat(reshape.failure()).isNotNull();
        assertThat(reshape.checkpoint()).isEqualTo(2);
        long next = 2L * test.volume.layout().stripeBlocks();
        MemorySegment data = MemorySegment.ofArray(new byte[8 * TestVolume.BLOCK]);
        assertThat(test.does(new BlockRequest().asRead(next, 8, data))).isNull();
        assertThat(test.does(new BlockRequest().asWrite(next, 8, data, true))).isNull();
    }

    @Test
    void shouldTellWhoseStagedRowsCannotBeRead() throws StorageException {
        for (int steps = 10;; steps += 5) {
            TestVolume test = created(Level.RAID5, " " + steps);
            var host = new ReshapeHost(test);
            host.fill();
            test.add(Level.RAID5, TestVolume.STRIPES);
            test.grow();
            BackgroundScan reshape = test.volume.reshape(ONE_ROW);
            for (int i = 0; i < steps && !reshape.hasEnded(); i++) {
                var busy = test.disks.stream().filter(disk -> disk.pending() > 0).toList();
                busy.get(test.random.nextInt(busy.size())).step(test.random);
            }
            assertThat(reshape.hasEnded()).as("no step leaves staged rows").isFalse();
            test.restart();
            Composition was = ((Outcome.Assembled) test.assembly()).composition();
            ReshapeRecord record = was.volume().reshape();
            if (record != null && record.stagedRows() > 0) {
                requireLeftOut(test, host, was);
                return;
            }
            test.close();
            open.remove(test);
        }
    }

    private void requireLeftOut(TestVolume test, ReshapeHost host, Composition was)
            throws StorageException {
        test.disks.get(1).spoil(ReshapeRecord.stagingBlock(was.volume().description()), 1);
        test.composition = was;
        var told = new LinkedHashMap<Integer, StorageException>();
        assertThatThrownBy(
                () -> VolumeMetadata.open(was, test.devices(), OpenOptions.DEFAULT, told::put))
                .isInstanceOf(MediumException.class);
        assertThat(told).containsOnlyKeys(1);
        test.degradedStart = DegradedStart.ALLOWED;
        test.open(1);
        host.checkAll();
        finish(test, host);
    }

    /** A request that waits for the blocks of another goes on after its end, not before. */
    @Test
    void shouldEndARequestBeforeTheReshapeGoesOn() throws StorageException {
        TestVolume test = created(Level.RAID5, "");
        test.add(Level.RAID5, TestVolume.STRIPES);
        test.grow();
        var pending = new ArrayList<Integer>();
        MemorySegment data = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
        test.volume.submit(new BlockRequest().asRead(0, 1, data)
                .onCompletion((_, failure) -> pending.add(test.disks.stream()
                        .mapToInt(QueuedDevice::pending).sum())));
        test.volume.reshape(ONE_ROW);
        test.settle();
        assertThat(pending).containsExactly(0);
        assertThat(test.volume.isReshaping()).isFalse();
    }

    @Test
    void shouldEndWhatWaitsForItsBlocksWhenTheVolumeIsClosed() throws StorageException {
        TestVolume test = created(Level.RAID5, "");
        test.add(Level.RAID5, TestVolume.STRIPES);
        test.grow();
        BackgroundScan reshape = test.volume.reshape(ONE_ROW);
        var ended = new ArrayList<StorageException>();
        MemorySegment data = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
        test.volume.submit(new BlockRequest().asRead(0, 1, data)
                .onCompletion((_, failure) -> ended.add(failure)));
        assertThat(test.disks.stream().mapToInt(QueuedDevice::pending).sum())
                .as("what the reshape reads").isPositive();
        assertThat(ended).isEmpty();
        test.volume.close();
        assertThat(ended).singleElement().isInstanceOf(DeviceGoneException.class);
        test.settle();
        assertThat(reshape.hasEnded()).isTrue();
        assertThat(reshape.failure()).isInstanceOf(DeviceGoneException.class);
        open.remove(test); // its disks are closed
    }

    @Test
    void shouldRefuseWhatWaitsForItsBlocksWhenTheVolumeHasFailed() throws StorageException {
        TestVolume test = created(Level.RAID5, "");
        var host = new ReshapeHost(test);
        host.fill();
        test.add(Level.RAID5, TestVolume.STRIPES);
        test.grow();
        BackgroundScan reshape = test.volume.reshape(ONE_ROW);
        var ended = new ArrayList<StorageException>();
        MemorySegment data = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
        test.volume.submit(new BlockRequest().asWrite(0, 1, data, true)
                .onCompletion((_, failure) -> ended.add(failure)));
        test.volume.fail(0, new DeviceGoneException("pulled"));
        test.volume.fail(1, new DeviceGoneException("pulled"));
        assertThat(test.volume.state().serving()).isFalse();
        test.volume.tick();
        assertThat(ended).singleElement().isInstanceOf(DeviceGoneException.class);
        test.settle();
        assertThat(reshape.hasEnded()).isTrue();
        host.crash();
        test.restart();
        test.open();
        host.checkAll();
        finish(test, host);
    }
}
