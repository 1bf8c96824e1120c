package lunar.raid.metadata.record;

import lunar.raid.layout.Level;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PagePair;

/**
 * The layout of a member: offsets of its parts in bytes. The two superblocks are always at 0 and 64 KiB.
 *
 * @param bitmapBytes where the intent bitmap is, 0 where there is none
 * @param badBlocksBytes where the list of bad blocks is
 * @param journalBytes where the journal is, 0 where there is none on the members
 * @param journalLengthBytes how long it is, 0 where there is none at all
 * @param journalSections parts of equal length that it has, 0 where there is none at all
 * @param checksumsBytes where the checksums are, up to the data; 0 where there are none
 * @param dataBytes where the data begin
 */
public record MetadataLayout(long bitmapBytes, long badBlocksBytes, long journalBytes,
        long journalLengthBytes, int journalSections, long checksumsBytes, long dataBytes) {
    /** Data begin at a multiple of this. */
    public static final long ALIGNMENT_BYTES = 1 << 20;
    /** The longest journal. */
    public static final long MAX_JOURNAL_BYTES = 1L << 30;
    /** The largest metadata area, but for checksums. */
    public static final long MAX_BYTES = MAX_JOURNAL_BYTES + 16 * ALIGNMENT_BYTES;
    /** Data begin before this. */
    private static final long MAX_DATA_BYTES = 1L << 60;

    /** The shortest section of a journal. */
    private static final long MIN_SECTION_BYTES = 256 << 10;
    /** Lengths of sections are multiples of this, as far apart as no physical block is long. */
    private static final long SECTION_STEP_BYTES = 64 << 10;
    /** Long entries that the ring of a section has room for, where there are several. */
    private static final int RING_ENTRIES = 16;
    private static final long PAIR_BYTES = 2L * PagePair.STRIDE_BYTES;
    /** The ring of a journal begins behind its page, which has two locations. */
    private static final long RING_AT = PAIR_BYTES;
    /** Bytes of a page of checksums before the first checksum. */
    private static final int CHECKSUM_HEAD_BYTES = 64;
    /** Number of checksums in a page of them. */
    public static final int CHECKSUMS_PER_PAGE = (Page.BYTES - CHECKSUM_HEAD_BYTES) / Integer.BYTES;
    private static final long BITMAP_AT = PAIR_BYTES;
    private static final long BAD_BLOCKS_AT = BITMAP_AT + PAIR_BYTES;
    /** The journal takes this share of a member, within limits. */
    private static final long JOURNAL_SHARE = 256;
    private static final long DEFAULT_MAX_JOURNAL_BYTES = 64 << 20;

    public MetadataLayout {
        long end = 0;
        end = after(end, "superblocks", 0, PAIR_BYTES);
        if (bitmapBytes != 0) {
            end = after(end, "bitmap", bitmapBytes, PAIR_BYTES);
        }
        end = after(end, "bad blocks", badBlocksBytes, PAIR_BYTES);
        if (journalLengthBytes != 0 && (journalLengthBytes < ALIGNMENT_BYTES
                || journalLengthBytes > MAX_JOURNAL_BYTES
                || journalLengthBytes % Page.BYTES != 0)) {
            throw new IllegalArgumentException("a journal of " + journalLengthBytes
                    + " bytes: it must be of 1 MiB to 1 GiB, in steps of 4 KiB");
        }
        if (journalSections < 0 || journalSections > Superblock.MAX_MEMBERS
                || (journalSections == 0) != (journalLengthBytes == 0)
                || (journalSections > 1 && sectionLengthBytes(journalLengthBytes,
                        journalSections) < MIN_SECTION_BYTES)) {
            throw new IllegalArgumentException("a journal of " + journalLengthBytes + " bytes in "
                    + journalSections + " sections");
        }
        if (journalBytes != 0) {
            if (journalLengthBytes == 0) {
                throw new IllegalArgumentException("a journal without a length");
            }
            end = after(end, "journal", journalBytes, journalLengthBytes);
        }
        long most = MAX_BYTES;
        if (checksumsBytes != 0) {
            end = after(end, "checksums", checksumsBytes, Page.BYTES);
            most = MAX_DATA_BYTES;
        }
        if (dataBytes % ALIGNMENT_BYTES != 0 || dataBytes > most || dataBytes < end) {
            throw new IllegalArgumentException("data at byte " + dataBytes
                    + ": it must be a multiple of 1 MiB, from " + end + " to " + most);
        }
    }

    private static long after(long end, String what, long atBytes, long lengthBytes) {
        if (atBytes < end || atBytes % Page.BYTES != 0 || atBytes > MAX_BYTES) {
            throw new IllegalArgumentException(
                    what + " at byte " + atBytes + ", where what is before ends at " + end);
        }
        return atBytes + lengthBytes;
    }

    /**
     * The layout of a new volume.
     *
     * @param journalLengthBytes length of the journal, a multiple of 1 MiB; only looked at where there is one
     * @param journalSections its sections; 0 where it is on a device of its own, not on the members
     */
    public static MetadataLayout of(Consistency consistency, long journalLengthBytes,
            int journalSections) {
        boolean journal = consistency == Consistency.JOURNAL;
        boolean onMembers = journal && journalSections > 0;
        return new MetadataLayout(consistency == Consistency.NONE ? 0 : BITMAP_AT, BAD_BLOCKS_AT,
                onMembers ? ALIGNMENT_BYTES : 0, journal ? journalLengthBytes : 0,
                journal ? Math.max(1, journalSections) : 0, 0,
                ALIGNMENT_BYTES + (onMembers ? journalLengthBytes : 0));
    }

    /**
     * A good number of sections for a journal on the members: the fewest that give all of them the same share, since
     * each has its own small writes; or fewer, so that the ring of each has room for a number of long entries. Where
     * all writes are to one stripe, members are flushed whenever half of one ring is full.
     *
     * @param copies of each section
     * @param entryBytes what a long entry takes
     */
    public static int journalSections(long journalLengthBytes, int slots, int copies,
            int entryBytes) {
        int fair = slots;
        for (int some = copies; some > 1; some--) {
            if (slots % some == 0 && copies % some == 0) {
                fair = slots / some;
                break;
            }
        }
        long least = Math.max(MIN_SECTION_BYTES,
                RING_AT + (long) RING_ENTRIES * entryBytes);
        return Math.clamp(journalLengthBytes / roundedUp(least), 1, fair);
    }

    /** Members that have a copy of the journal: one more than the level can lose. */
    public static int journalCopies(Level level) {
        return switch (level) {
            case RAID5 -> 2;
            case RAID6 -> 3;
            case LINEAR, RAID0, RAID1, RAID10 -> 0;
        };
    }

    private static long roundedUp(long bytes) {
        return Math.ceilDiv(bytes, SECTION_STEP_BYTES) * SECTION_STEP_BYTES;
    }

    /** Length of each section of the journal. */
    public long sectionLengthBytes() {
        return sectionLengthBytes(journalLengthBytes, journalSections);
    }

    private static long sectionLengthBytes(long lengthBytes, int sections) {
        return sections == 1
                ? lengthBytes
                : lengthBytes / sections / SECTION_STEP_BYTES * SECTION_STEP_BYTES;
    }

    /** Returns the offset of a section of the journal on its device. */
    public long sectionBytes(int section) {
        return journalBytes + section * sectionLengthBytes();
    }

    /** Length of the ring of each section. */
    public long ringBytes() {
        return sectionLengthBytes() - RING_AT;
    }

    /** Returns this layout with checksums, for members up to this size. */
    public MetadataLayout withChecksums(long memberBytes, int blockSize) {
        long pages = checksumPages(Math.max(1, dataBlocks(memberBytes, blockSize)));
        long bytes = Math.ceilDiv(pages * Page.BYTES, ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
        return new MetadataLayout(bitmapBytes, badBlocksBytes, journalBytes, journalLengthBytes,
                journalSections, dataBytes, dataBytes + bytes);
    }

    /** Whether the members keep checksums. */
    public boolean hasChecksums() {
        return checksumsBytes != 0;
    }

    private static long checksumPages(long blocks) {
        return Math.ceilDiv(blocks, CHECKSUMS_PER_PAGE);
    }

    /** Whether there is room for the checksums of this number of data blocks. */
    boolean coversBlocks(long blocks) {
        return checksumPages(blocks) <= (dataBytes - checksumsBytes) / Page.BYTES;
    }

    /** Returns the default length of the journal for a member of this size: a 256th, from 1 to 64 MiB. */
    public static long journalLengthBytes(long memberBytes) {
        long share = memberBytes / JOURNAL_SHARE / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
        return Math.clamp(share, ALIGNMENT_BYTES, DEFAULT_MAX_JOURNAL_BYTES);
    }

    /** Returns the offset of the staging area for rows that are being reshaped: behind the list of bad blocks. */
    public long stagingBytes() {
        return badBlocksBytes + PAIR_BYTES;
    }

    /** Returns the length of the staging area. */
    long stagingLengthBytes() {
        return (journalBytes > stagingBytes() ? journalBytes : dataBytes) - stagingBytes();
    }

    /** Blocks that a device of this size has left for data; 0 or less where it is too small. */
    public long dataBlocks(long memberBytes, int blockSize) {
        return (memberBytes - dataBytes) / blockSize;
    }
}
