package lunar.raid.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.block.BlockRequest;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.RaidListener;
import lunar.raid.Rebuild;
import lunar.raid.ScanOptions;
import lunar.raid.Scrub;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.metadata.page.Page;
import lunar.testkit.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Blocks that change behind a volume's back, where its members keep checksums: which side is wrong is known. */
class ChecksumsTest {
    private final long seed = Seed.next();
    private final TestVolume test = new TestVolume("seed " + seed, new Random(seed));
    private final List<String> repaired = new ArrayList<>();

    @AfterEach
    void close() { test.close(); }

    private void start(Level level, int members) throws StorageException {
        test.checksums = true;
        test.listener = new RaidListener() {
            @Override
            public void repaired(int slot, long memberBlock, long blocks) {
                for (long block = memberBlock; block < memberBlock + blocks; block++) {
                    repaired.add(slot + ":" + block);
                }
            }
        };
        test.create(level, members, 0);
        test.open();
        test.resync();
        test.fill();
    }

    private void reopen() throws StorageException {
        test.stop();
        test.open();
    }

    private long lba(long memberBlock) { return test.metadata.dataOffset() + memberBlock; }

    private byte[] block(int slot, long memberBlock) throws StorageException {
        var block = new byte[TestVolume.BLOCK];
        test.disks.get(slot).read(lba(memberBlock), MemorySegment.ofArray(block));
        return block;
    }

    private void damage(int slot, long memberBlock) throws StorageException {
        byte[] block = block(slot, memberBlock);
        block[test.random.nextInt(block.length)] ^= (byte) (1 << test.random.nextInt(8));
        test.disks.get(slot).write(lba(memberBlock), MemorySegment.ofArray(block));
    }

    private Scrub scrub(boolean repairs) {
        Scrub scrub = test.volume.scrub(repairs, ScanOptions.DEFAULT);
        test.settle();
        assertThat(scrub.hasEnded()).as(test.title()).isTrue();
        return scrub;
    }

    private long dataBlocks() { return (long) TestVolume.STRIPES * Volumes.CHUNK_BLOCKS; }

    @ParameterizedTest
    @CsvSource({"RAID1, 2", "RAID1, 3", "RAID5, 3", "RAID6, 4", "RAID10, 3", "RAID10, 4"})
    void shouldRepairTheSideThatIsWrongWhicheverItIs(Level level, int members)
            throws StorageException {
        start(level, members);
        for (int slot = 0; slot < members; slot++) {
            repaired.clear();
            var damaged = new ArrayList<String>();
            var before = new ArrayList<byte[]>();
            for (long block = slot; block < dataBlocks(); block += 5) {
                before.add(block(slot, block));
                damage(slot, block);
                damaged.add(slot + ":" + block);
            }
            Scrub scrub = scrub(false);
            assertThat(scrub.mismatches()).as(test.title()).isZero();
            assertThat(scrub.skipped()).as(test.title()).isZero();
            assertThat(repaired).as(test.title()).containsExactlyInAnyOrderElementsOf(damaged);
            int index = 0;
            for (long block = slot; block < dataBlocks(); block += 5) {
                assertThat(block(slot, block)).as(test.title()).isEqualTo(before.get(index++));
            }
            test.checkRedundancy();
        }
        test.check();
    }

    @ParameterizedTest
    @CsvSource({"RAID1, 2", "RAID5, 3", "RAID6, 4", "RAID10, 3"})
    void shouldReadWhatWasWrittenWhereReadsAreVerified(Level level, int members)
            throws StorageException {
        test.options = OpenOptions.DEFAULT.withVerifies(true);
        start(level, members);
        for (int slot = 0; slot < members; slot++) {
            for (long block = 0; block < dataBlocks(); block += 3) {
                damage(slot, block);
            }
            test.check();
            assertThat(scrub(false).mismatches()).as(test.title()).isZero();
        }
        assertThat(repaired).as(test.title()).isNotEmpty();
    }

    @Test
    void shouldNotComputeFromWhatIsWrong() throws StorageException {
        start(Level.RAID5, 4);
        reopen();
        for (long block = 0; block < dataBlocks(); block++) {
            damage(1, block);
        }
        test.fill(); // partly from old content of the damaged member, in parts of stripes
        for (int block = 0; block < test.volume.blockCount(); block += 3) {
            rewrite(block);
        }
        test.check();
        test.checkRedundancy();
    }

    private void rewrite(int block) {
        MemorySegment data = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
        assertThat(test.does(new BlockRequest().asRead(block, 1, data))).isNull();
        damageQuietly(test.layout().slot(block / test.layout().stripeBlocks(), 0),
                block / test.layout().stripeBlocks() * Volumes.CHUNK_BLOCKS
                        + block % Volumes.CHUNK_BLOCKS,
                block);
        assertThat(test.does(new BlockRequest().asWrite(block, 1, data, false))).isNull();
    }

    /** Not the block itself, which is about to be written, but what it is computed with. */
    private void damageQuietly(int slot, long memberBlock, int block) {
        long unit = block % test.layout().stripeBlocks() / Volumes.CHUNK_BLOCKS;
        if (unit == 0) {
            return;
        }
        try {
            damage(slot, memberBlock);
        } catch (StorageException e) {
            throw new AssertionError(test.title(), e);
        }
    }

    @Test
    void shouldFailAReadThatCannotBeRightAndNotInventSomething() throws StorageException {
        test.options = OpenOptions.DEFAULT.withVerifies(true);
        start(Level.RAID5, 3);
        reopen();
        test.fail(0);
        damage(1, 3);
        int failed = 0;
        for (int block = 0; block < test.volume.blockCount(); block++) {
            MemorySegment data = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
            StorageException failure = test.does(new BlockRequest().asRead(block, 1, data));
            if (failure == null) {
                test.checkBlock(block, data);
            } else {
                assertThat(failure).as(test.title()).isInstanceOf(MediumException.class);
                failed++;
            }
        }
        assertThat(failed).as(test.title()).isBetween(1, 2);
    }

    @Test
    void shouldListWhatARebuildCannotVouchFor() throws StorageException {
        start(Level.RAID5, 3);
        reopen();
        test.fail(0);
        damage(1, 3);
        test.metadata.admit(0, test.disks.get(0), test.uuids.get(0), true);
        Rebuild rebuild = test.volume.replace(0, test.disks.get(0), test.metadata.dataOffset(),
                ScanOptions.DEFAULT);
        test.settle();
        assertThat(test.volume.state().slots()).as(test.title()).containsOnly(SlotState.ACTIVE);
        assertThat(rebuild.lostBlocks()).as(test.title()).isBetween(1L, 2L);
        for (int block = 0; block < test.volume.blockCount(); block++) {
            MemorySegment data = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
            if (test.does(new BlockRequest().asRead(block, 1, data)) == null) {
                test.checkBlock(block, data);
            }
        }
        test.checkRedundancy();
    }

    @Test
    void shouldKeepChecksumsOnASpareThatStepsIn() throws StorageException {
        test.checksums = true;
        test.create(Level.RAID5, 3, 1);
        test.open();
        test.resync();
        test.fill();
        test.fail(1);
        test.makeWhole();
        reopen();
        for (long block = 0; block < dataBlocks(); block += 7) {
            damage(3, block);
        }
        assertThat(scrub(false).mismatches()).as(test.title()).isZero();
        test.check();
        test.checkRedundancy();
    }

    private StorageException flush() { return test.does(new BlockRequest().asFlush()); }

    private void loseAtFlush(long from, long end) {
        test.disks.forEach(disk -> disk.loseAtFlush(from, end));
    }

    private long firstSum() {
        return test.metadata.record().description().layout().checksumsBytes() / TestVolume.BLOCK;
    }

    /** The data were stable already, and the pages are in memory: but they are not on the members. */
    @ParameterizedTest
    @CsvSource({"RAID1, 2", "RAID5, 3", "RAID10, 4"})
    void shouldTakeNothingForWrongWhosePagesWereLostWithTheCaches(Level level, int members)
            throws StorageException {
        start(level, members);
        assertThat(flush()).as(test.title()).isNull();
        loseAtFlush(firstSum(), lba(0));
        test.fill();
        assertThat(flush()).as(test.title()).isInstanceOf(LostWritesException.class);
        test.fillAgain(true); // as a host does that was told of the loss
        assertThat(flush()).as(test.title()).isNull();
        test.resync();
        reopen();
        test.fail(0);
        test.metadata.admit(0, test.disks.get(0), test.uuids.get(0), true);
        Rebuild rebuild = test.volume.replace(0, test.disks.get(0), test.metadata.dataOffset(),
                ScanOptions.DEFAULT);
        test.settle();
        assertThat(test.volume.state().slots()).as(test.title()).containsOnly(SlotState.ACTIVE);
        assertThat(rebuild.lostBlocks()).as(test.title()).isZero();
        test.check();
        test.checkRedundancy();
    }

    /** The pages are in memory and on the members: but the data are what they were before. */
    @ParameterizedTest
    @CsvSource({"RAID1, 2", "RAID5, 3", "RAID10, 4"})
    void shouldReadWhatTheMembersHaveAfterTheyHaveLostTheirCaches(Level level, int members)
            throws StorageException {
        test.options = OpenOptions.DEFAULT.withVerifies(true);
        start(level, members);
        assertThat(flush()).as(test.title()).isNull();
        loseAtFlush(lba(0), Long.MAX_VALUE);
        test.fillUnflushed();
        assertThat(flush()).as(test.title()).isInstanceOf(LostWritesException.class);
        test.resync();
        repaired.clear();
        for (int block = 0; block < test.volume.blockCount(); block++) {
            MemorySegment data = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
            assertThat(test.does(new BlockRequest().asRead(block, 1, data)))
                    .as(test.title() + " block " + block).isNull();
        }
        test.checkRedundancy();
        assertThat(repaired).as(test.title()).isEmpty();
        reopen();
        assertThat(scrub(false).mismatches()).as(test.title()).isZero();
        assertThat(repaired).as(test.title()).isEmpty();
    }

    /** A page that was not written although the member said so: whole, and wrong. */
    @ParameterizedTest
    @CsvSource({"RAID1, 2", "RAID5, 3", "RAID6, 4", "RAID10, 4"})
    void shouldLeaveRightDataAloneWhereAChecksumIsWrong(Level level, int members)
            throws StorageException {
        start(level, members);
        test.stop();
        var pages = new ArrayList<byte[]>();
        int slot = members - 1;
        long at = test.metadata.record().description().layout().checksumsBytes() / TestVolume.BLOCK;
        var page = new byte[Page.BYTES];
        test.disks.get(slot).read(at, MemorySegment.ofArray(page));
        test.open();
        test.fill();
        test.stop();
        test.disks.get(slot).write(at, MemorySegment.ofArray(page));
        test.open();
        for (long block = 0; block < dataBlocks(); block++) {
            pages.add(block(slot, block));
        }
        Scrub scrub = scrub(true);
        assertThat(scrub.mismatches()).as(test.title()).isZero();
        assertThat(scrub.skipped()).as(test.title()).isZero();
        assertThat(repaired).as(test.title()).isNotEmpty();
        for (int block = 0; block < dataBlocks(); block++) {
            assertThat(block(slot, block)).as(test.title()).isEqualTo(pages.get(block));
        }
        repaired.clear();
        assertThat(scrub(false).mismatches()).as(test.title()).isZero();
        assertThat(repaired).as(test.title()).isEmpty();
        test.check();
    }
}
