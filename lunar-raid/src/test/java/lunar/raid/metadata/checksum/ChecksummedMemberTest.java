package lunar.raid.metadata.checksum;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.DeviceGoneException;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.metadata.QueuedDevice;
import lunar.raid.metadata.Volumes;
import lunar.store.MemoryDevice;
import lunar.testkit.GranularDevice;
import lunar.testkit.Seed;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A member with checksums, over a disk whose requests end when the test says so. */
class ChecksummedMemberTest {
    private static final int BLOCK = 512;
    private static final int PER_PAGE = 1008;
    private static final int SUMS_AT = 64 << 10;
    private static final int DATA_AT = 1 << 20;
    /** As few as a member takes: twice the pages of its longest request. */
    private static final int CAPACITY = 68;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    private QueuedDevice disk = QueuedDevice.create(1, random);
    private ChecksummedMember member = open(3 * PER_PAGE, false);

    private ChecksummedMember open(int blocks, boolean verifies) {
        disk.close();
        disk = QueuedDevice.create(DATA_AT + blocks * BLOCK, random);
        return over(blocks, verifies);
    }

    private ChecksummedMember over(int blocks, boolean verifies) {
        var area = new ChecksumArea(Volumes.VOLUME, SUMS_AT, BLOCK, DATA_AT / BLOCK, blocks);
        return new ChecksummedMember(disk, area, 1, verifies);
    }

    @AfterEach
    void close() { disk.close(); }

    private static byte[] content(int blocks, long tag) {
        var content = new byte[blocks * BLOCK];
        new Random(tag).nextBytes(content);
        return content;
    }

    private void settle() { QueuedDevice.settle(List.of(disk), random); }

    private @Nullable StorageException ends(BlockRequest request, boolean checked) {
        var end = new ArrayList<@Nullable StorageException>();
        request.onCompletion((_, failure) -> end.add(failure));
        if (checked) {
            member.submitChecked(request);
        } else {
            member.submit(request);
        }
        settle();
        assertThat(end).as("seed %d: %s", seed, request).hasSize(1);
        return end.getFirst();
    }

    private @Nullable StorageException writes(long block, byte[] content) {
        return ends(new BlockRequest().asWrite(DATA_AT / BLOCK + block, content.length / BLOCK,
                MemorySegment.ofArray(content), false), false);
    }

    private void write(long block, byte[] content) {
        for (int at = 0; at < content.length; at += 256 * BLOCK) {
            byte[] part = Arrays.copyOfRange(content, at,
                    Math.min(content.length, at + 256 * BLOCK));
            assertThat(writes(block + at / BLOCK, part)).as("seed %d", seed).isNull();
        }
    }

    private @Nullable StorageException reads(long block, int blocks, boolean checked) {
        return ends(new BlockRequest().asRead(DATA_AT / BLOCK + block, blocks,
                MemorySegment.ofArray(new byte[blocks * BLOCK])), checked);
    }

    private void requireRight(long block, int blocks) {
        for (int at = 0; at < blocks; at += 256) {
            assertThat(reads(block + at, Math.min(256, blocks - at), true))
                    .as("seed %d: block %d", seed, block + at).isNull();
        }
    }

    private void requireWrong(long block, int blocks) {
        assertThat(reads(block, blocks, true)).as("seed %d: block %d", seed, block)
                .isInstanceOf(MediumException.class).hasMessageContaining("checksum");
    }

    private void flush() {
        assertThat(ends(new BlockRequest().asFlush(), false)).as("seed %d", seed).isNull();
    }

    /** Behind the member's back. */
    private void damage(long block) throws StorageException {
        disk.write(DATA_AT / BLOCK + block, MemorySegment.ofArray(content(1, ~block)));
    }

    private ByteBuffer page(int number) throws StorageException {
        var page = new byte[4096];
        disk.read((SUMS_AT + number * 4096L) / BLOCK, MemorySegment.ofArray(page));
        return ByteBuffer.wrap(page);
    }

    private static int crc(byte[] content, int at, int length) {
        var crc = new CRC32C();
        crc.update(content, at, length);
        return (int) crc.getValue();
    }

    /** Whole granules are zeroes then, the rest is as it was: the content of a block is not defined. */
    @Test
    void shouldNotTakeAnUnmapForZeroesThatMayLeaveBlocksAsTheyAre() throws Exception {
        BlockDevice memory = MemoryDevice.create(DATA_AT + 3L * PER_PAGE * BLOCK, BLOCK);
        var area = new ChecksumArea(Volumes.VOLUME, SUMS_AT, BLOCK, DATA_AT / BLOCK, 3 * PER_PAGE);
        member = new ChecksummedMember(new GranularDevice(memory, 16), area, 1, false);
        write(0, content(64, 1));
        assertThat(ends(new BlockRequest().asUnmap(DATA_AT / BLOCK + 3, 40), false)).isNull();
        requireRight(0, 64);
    }

    @Test
    void shouldWriteGoldenPages() throws StorageException {
        byte[] content = content(3, 7);
        write(PER_PAGE - 1, content);
        flush();
        ByteBuffer golden = ByteBuffer.allocate(4096);
        golden.put("LUNARSUM".getBytes(StandardCharsets.US_ASCII)).putInt(1).putInt(0).putLong(1);
        golden.putLong(0x0f0e0d0c_0b0a4908L).putLong(0x87060504_03020100L).putLong(1);
        golden.putInt(64, crc(content, BLOCK, BLOCK)).putInt(68, crc(content, 2 * BLOCK, BLOCK));
        golden.putInt(12, crc(golden.array(), 0, 4096));
        assertThat(page(1)).isEqualTo(golden.clear());
        assertThat(page(0).getInt(64 + 4 * (PER_PAGE - 1))).isEqualTo(crc(content, 0, BLOCK));
        assertThat(page(0).getLong(40)).isZero();
    }

    @Test
    void shouldTellWhatChangedByItself() throws StorageException {
        write(10, content(20, 1));
        requireRight(10, 20);
        damage(17);
        requireWrong(10, 20);
        requireWrong(17, 1);
        requireRight(10, 7);
        requireRight(18, 12);
        assertThat(reads(17, 1, false)).isNull();
        assertThat(member.wrong()).isEqualTo(2);
        write(17, content(1, 2));
        requireRight(10, 20);
    }

    @Test
    void shouldCompareEveryReadWhereThatIsWanted() throws StorageException {
        member = open(100, true);
        write(10, content(20, 1));
        assertThat(reads(10, 20, false)).isNull();
        damage(17);
        assertThat(reads(10, 20, false)).isInstanceOf(MediumException.class);
    }

    @Test
    void shouldTakeForRightWhatItDoesNotKnow() throws StorageException {
        damage(5);
        requireRight(0, 10);
        disk.write(DATA_AT / BLOCK + 5, MemorySegment.ofArray(new byte[BLOCK]));
        requireWrong(0, 10);
    }

    @Test
    void shouldKnowWhatItKnewAfterAFlush() throws StorageException {
        write(0, content(1500, 1));
        flush();
        member = over(3 * PER_PAGE, false);
        requireRight(0, 1500);
        damage(1400);
        requireWrong(1400, 1);
    }

    @Test
    void shouldKnowNothingByAPageThatIsTornOrInAnotherPlace() throws StorageException {
        write(0, content(2 * PER_PAGE, 1));
        flush();
        var torn = page(0);
        torn.put(4000, (byte) ~torn.get(4000));
        disk.write(SUMS_AT / BLOCK, MemorySegment.ofArray(torn.array()));
        disk.write(SUMS_AT / BLOCK + 8, MemorySegment.ofArray(page(0).array()));
        member = over(3 * PER_PAGE, false);
        damage(3);
        damage(PER_PAGE + 3);
        requireRight(0, 2 * PER_PAGE);
        flush();
        damage(4);
        requireWrong(0, 10);
    }

    @Test
    void shouldKnowNothingByAPageThatCannotBeRead() throws StorageException {
        write(0, content(10, 1));
        flush();
        member = over(3 * PER_PAGE, false);
        disk.spoil(SUMS_AT / BLOCK + 3, 1);
        requireRight(0, 10);
        flush();
        damage(4);
        member = over(3 * PER_PAGE, false);
        requireWrong(0, 10);
    }

    @Test
    void shouldEndAFlushOnlyWhenPagesAreWritten() {
        var end = new ArrayList<@Nullable StorageException>();
        write(0, content(10, 1));
        member.submit(new BlockRequest().asFlush().onCompletion((_, why) -> end.add(why)));
        disk.step(random);
        assertThat(end).as("a page is written first").isEmpty();
        settle();
        assertThat(end).hasSize(1);
    }

    @Test
    void shouldFailAFlushWhosePagesAreNotWritten() {
        write(0, content(10, 1));
        disk.breakDown();
        assertThat(ends(new BlockRequest().asFlush(), false))
                .isInstanceOf(DeviceGoneException.class);
        assertThat(reads(0, 10, true)).isInstanceOf(DeviceGoneException.class);
    }

    private void requireLoss() {
        assertThat(ends(new BlockRequest().asFlush(), false)).as("seed %d", seed)
                .isInstanceOf(LostWritesException.class);
    }

    @Test
    void shouldWriteAPageAgainThatWasLostWithTheCache() throws StorageException {
        write(0, content(10, 1));
        flush();
        disk.loseAtFlush(SUMS_AT / BLOCK, DATA_AT / BLOCK);
        write(0, content(10, 2));
        requireLoss();
        write(0, content(10, 2));
        flush();
        member = over(3 * PER_PAGE, false);
        requireRight(0, 10);
        damage(4);
        requireWrong(0, 10);
    }

    @Test
    void shouldKnowNothingOfWhatWasLostWithTheCache() throws StorageException {
        write(0, content(20, 1));
        flush();
        disk.loseAtFlush(DATA_AT / BLOCK, Long.MAX_VALUE);
        write(0, content(10, 2));
        requireLoss();
        requireRight(0, 20);
        flush();
        member = over(3 * PER_PAGE, false);
        requireRight(0, 20);
        damage(15);
        requireWrong(10, 10);
    }

    /** It may have been done before, or after. */
    @Test
    void shouldKnowNothingOfAWriteThatWasUnderWayWhenTheCacheWasLost() throws StorageException {
        write(0, content(10, 1));
        flush();
        var ends = new ArrayList<@Nullable StorageException>();
        member.submit(new BlockRequest().asWrite(DATA_AT / BLOCK, 10,
                MemorySegment.ofArray(content(10, 2)), false)
                .onCompletion((_, why) -> ends.add(why)));
        member.submit(new BlockRequest().asFlush().onCompletion((_, why) -> ends.add(why)));
        disk.loseAtFlush(0, 0);
        disk.step(new Random() {
            private static final long serialVersionUID = 1;

            @Override
            public int nextInt(int bound) { return bound - 1; }
        });
        assertThat(ends).singleElement().isInstanceOf(LostWritesException.class);
        settle();
        assertThat(ends).hasSize(2).endsWith((StorageException) null);
        damage(3);
        requireRight(0, 10);
    }

    /** With more pages than there is room for, and no flush by the member's user. */
    @Test
    void shouldLetNoPageGoBeforeItIsStable() throws StorageException {
        int pages = 90;
        member = open(pages * PER_PAGE, false);
        for (int page = 0; page < pages; page++) {
            write(page * PER_PAGE, content(1, 1));
        }
        flush();
        disk.loseAtFlush(SUMS_AT / BLOCK, DATA_AT / BLOCK);
        for (int page = 0; page < pages; page++) {
            write(page * PER_PAGE, content(1, 2));
            assertThat(member.cachedPages()).as("seed %d", seed).isLessThanOrEqualTo(CAPACITY);
        }
        // The loss may have been met before, when there was no room.
        StorageException _ = ends(new BlockRequest().asFlush(), false);
        flush();
        member = over(pages * PER_PAGE, false);
        for (int page = 0; page < pages; page++) {
            requireRight(page * PER_PAGE, 1);
        }
        damage((pages - 1) * PER_PAGE);
        requireWrong((pages - 1) * PER_PAGE, 1);
    }

    /** Writes and flushes at once, over more pages than there is room for, and parts of the cache are lost at times. */
    @Test
    void shouldContradictNothingThatTheMemberHasAfterLosses() throws StorageException {
        int blocks = 75 * PER_PAGE;
        member = open(blocks, false);
        int end = (DATA_AT + blocks * BLOCK) / BLOCK;
        var written = new BitSet();
        for (int round = 0; round < 60; round++) {
            if (random.nextInt(2) == 0) {
                int from = SUMS_AT / BLOCK + random.nextInt(end - SUMS_AT / BLOCK);
                disk.loseAtFlush(random.nextBoolean() ? 0 : from, random.nextInt(from, end + 1));
            }
            int count = 1 + random.nextInt(60);
            int place = blocks / count;
            for (int i = 0; i < count; i++) {
                int block = i * place + random.nextInt(place - 30);
                int length = 1 + random.nextInt(30);
                written.set(block, block + length);
                submit(new BlockRequest().asWrite(DATA_AT / BLOCK + block, length,
                        MemorySegment.ofArray(content(length, random.nextLong())), false));
                if (random.nextInt(20) == 0) {
                    submit(new BlockRequest().asFlush());
                }
            }
            settle();
            assertThat(member.cachedPages()).as("seed %d", seed).isLessThanOrEqualTo(CAPACITY);
            StorageException _ = ends(new BlockRequest().asFlush(), false);
            if (random.nextInt(4) == 0) {
                flush();
                member = over(blocks, false);
            }
            requireRight(written);
        }
        flush();
        flush();
        member = over(blocks, false);
        requireRight(written);
        for (int block = written.nextSetBit(0); block >= 0; block = written
                .nextSetBit(block + 500)) {
            damage(block);
            requireWrong(block, 1);
        }
    }

    /** A write that meets a loss is sent again, as a volume does. */
    private void submit(BlockRequest request) {
        member.submit(request.onCompletion((ended, why) -> {
            if (why instanceof LostWritesException && ended.operation() == Operation.WRITE) {
                submit(new BlockRequest().asCopyOf(ended));
            }
        }));
    }

    private void requireRight(BitSet blocks) {
        for (int from = blocks.nextSetBit(0); from >= 0;) {
            int length = Math.min(256, blocks.nextClearBit(from) - from);
            requireRight(from, length);
            from = blocks.nextSetBit(from + length);
        }
    }

    /** All requests in flight at once, over more pages than there is room for. */
    @Test
    void shouldDoWithAFewPagesInMemory() throws StorageException {
        int pages = 90;
        member = open(pages * PER_PAGE, false);
        var tags = new long[pages * PER_PAGE];
        for (int round = 0; round < 40; round++) {
            var ends = new ArrayList<@Nullable StorageException>();
            int count = 1 + random.nextInt(60);
            int place = pages * PER_PAGE / count;
            for (int i = 0; i < count; i++) {
                int block = i * place + random.nextInt(place - 30);
                int blocks = 1 + random.nextInt(30);
                long tag = random.nextLong() | 1;
                byte[] content = content(blocks, tag);
                for (int each = 0; each < blocks; each++) {
                    tags[block + each] = tag;
                }
                member.submit(new BlockRequest().asWrite(DATA_AT / BLOCK + block, blocks,
                        MemorySegment.ofArray(content), false)
                        .onCompletion((_, why) -> ends.add(why)));
            }
            settle();
            assertThat(ends).as("seed %d", seed).hasSize(count).containsOnlyNulls();
            assertThat(member.cachedPages()).as("seed %d", seed).isLessThanOrEqualTo(CAPACITY);
        }
        for (int block = 0; block < tags.length; block += 100) {
            requireRight(block, Math.min(100, tags.length - block));
        }
        for (int block = 0; block < tags.length; block += 777) {
            if (tags[block] != 0) {
                damage(block);
                requireWrong(block, 1);
            }
        }
    }
}
