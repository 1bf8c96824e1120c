package lunar.raid.meta;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import lunar.block.AbortedException;
import lunar.block.BlockRequest;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.Reshape;
import lunar.raid.WalkOptions;
import lunar.raid.layout.Level;
import lunar.testkit.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What goes wrong while a volume gets a member more, and what is to become of it then. */
class ReshapeFaultsTest {
    private static final WalkOptions ONE_ROW = WalkOptions.DEFAULT.withBatch(1);
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

    private static void grow(TestVolume test) {
        int disk = test.disks.size() - 1;
        var failures = new ArrayList<StorageException>();
        test.volume.pause(() -> test.metadata.pause(_ -> {
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
        assertThat(failures).as(test.title()).isEmpty();
    }

    /** Moves so many windows of a row, then ends. */
    private static Reshape move(TestVolume test, int windows) {
        var moved = new int[1];
        var begun = new Reshape[1];
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
        Reshape reshape = test.volume.reshape(ONE_ROW);
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
        grow(test);
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
        grow(test);
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
}
