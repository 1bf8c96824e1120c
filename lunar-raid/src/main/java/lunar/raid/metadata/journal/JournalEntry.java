package lunar.raid.metadata.journal;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;
import lunar.block.StorageException;
import lunar.raid.metadata.journal.JournalFormat.Kind;
import lunar.raid.metadata.page.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * The pending writes to a stripe, for the {@link VolumeJournal}. Reusable when they are in place, so a pool of entries
 * needs no allocation.
 */
public final class JournalEntry extends Waiter {
    /** Called when an entry is stable. Must neither block nor throw. */
    @FunctionalInterface
    public interface Stable {
        /** @param failure null where the stripe may be written in place; else the journal is gone */
        void stable(JournalEntry entry, @Nullable StorageException failure);
    }

    private static final ByteBuffer ZEROES = ByteBuffer.allocateDirect(1 << 16)
            .asReadOnlyBuffer();

    private final int blockSize;
    private final Stable stable;
    private final CRC32C crc = new CRC32C();
    private Kind kind = Kind.DATA;
    private long stripe;
    private int extents;
    private int dataBytes;
    private int[] slots = new int[4];
    private long[] memberBlocks = new long[4];
    private int[] blocks = new int[4];
    private int[] checksums = new int[4];
    private MemorySegment[] data = new MemorySegment[4];
    /** Its number in the journal. */
    private long sequence;

    public JournalEntry(int blockSize, Stable stable) {
        this.blockSize = blockSize;
        this.stable = stable;
    }

    /** Prepares an entry with data, of a part of a stripe; it is replayed after a crash. */
    public JournalEntry asData(long stripe) {
        return as(Kind.DATA, stripe);
    }

    /**
     * Prepares an entry without data, of a whole stripe that is written to all members; after a crash it tells whether
     * the stripe was wholly written.
     */
    public JournalEntry asNote(long stripe) { return as(Kind.NOTE, stripe); }

    private JournalEntry as(Kind what, long ofStripe) {
        kind = what;
        stripe = ofStripe;
        extents = 0;
        dataBytes = 0;
        return this;
    }

    /**
     * Adds a write to a member.
     *
     * @param memberBlock first block, in the data area of the slot's member
     * @param content whole blocks; must not change before the entry is stable
     */
    public JournalEntry add(int slot, long memberBlock, MemorySegment content) {
        long count = content.byteSize() / blockSize;
        if (content.byteSize() % blockSize != 0 || count == 0 || count > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(content.byteSize() + " bytes in blocks of "
                    + blockSize);
        }
        crc.reset();
        if (kind == Kind.NOTE) {
            for (long at = 0; at < content.byteSize(); at += Integer.MAX_VALUE / 2) {
                crc.update(content.asSlice(at,
                        Math.min(content.byteSize() - at, Integer.MAX_VALUE / 2)).asByteBuffer());
            }
        } else {
            dataBytes = Math.addExact(dataBytes, Math.toIntExact(content.byteSize()));
        }
        return add(slot, memberBlock, (int) count, (int) crc.getValue(), content);
    }

    /** Zeroes that will be written to a member, in an entry without data. */
    public JournalEntry addZeroes(int slot, long memberBlock, int count) {
        if (kind != Kind.NOTE || count <= 0) {
            throw new IllegalArgumentException(count + " blocks of zeroes for " + kind);
        }
        crc.reset();
        for (long left = (long) count * blockSize; left > 0; left -= ZEROES.capacity()) {
            crc.update(ZEROES.duplicate().limit((int) Math.min(left, ZEROES.capacity())));
        }
        return add(slot, memberBlock, count, (int) crc.getValue(), MemorySegment.NULL);
    }

    private JournalEntry add(int slot, long memberBlock, int count, int checksum,
            MemorySegment content) {
        if (extents == JournalFormat.MAX_EXTENTS) {
            throw new IllegalArgumentException(
                    "more than " + JournalFormat.MAX_EXTENTS + " extents in an entry");
        }
        if (extents == slots.length) {
            int length = Math.min(2 * extents, JournalFormat.MAX_EXTENTS);
            slots = Arrays.copyOf(slots, length);
            memberBlocks = Arrays.copyOf(memberBlocks, length);
            blocks = Arrays.copyOf(blocks, length);
            checksums = Arrays.copyOf(checksums, length);
            data = Arrays.copyOf(data, length);
        }
        slots[extents] = slot;
        memberBlocks[extents] = memberBlock;
        blocks[extents] = count;
        checksums[extents] = checksum;
        data[extents] = content;
        extents++;
        return this;
    }

    /** Bytes in the journal, but for what fills up the last write. */
    int lengthBytes() {
        return JournalFormat.headBytes(extents) + dataBytes;
    }

    Kind kind() { return kind; }

    long stripe() { return stripe; }

    int extents() { return extents; }

    long sequence() { return sequence; }

    void sequence(long number) { sequence = number; }

    /** Puts extents and data into a buffer, behind a head that is there already. */
    void put(MemorySegment to, ByteBuffer bytes, int entryAt) {
        int dataAt = entryAt + JournalFormat.headBytes(extents);
        for (int i = 0; i < extents; i++) {
            int checksum = checksums[i];
            if (kind == Kind.DATA) {
                int length = blocks[i] * blockSize;
                MemorySegment.copy(data[i], 0, to, dataAt, length);
                checksum = JournalFormat.checksum(bytes, dataAt, length, crc);
                dataAt += length;
            }
            data[i] = MemorySegment.NULL;
            JournalFormat.putExtent(bytes, entryAt, i, slots[i], memberBlocks[i], blocks[i],
                    checksum);
        }
    }

    @Override
    public void stable(@Nullable StorageException failure) { stable.stable(this, failure); }
}
