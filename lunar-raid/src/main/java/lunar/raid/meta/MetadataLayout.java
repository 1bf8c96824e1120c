package lunar.raid.meta;

/**
 * Where the parts of a member are, in bytes from its start. The two superblocks are always at 0 and 64 KiB.
 *
 * @param bitmapBytes where the intent bitmap is, 0 where there is none
 * @param badBlocksBytes where the list of bad blocks is
 * @param journalBytes where the journal is, 0 where there is none on the members
 * @param journalLengthBytes how long it is, 0 where there is none at all
 * @param dataBytes where the data begin
 */
public record MetadataLayout(long bitmapBytes, long badBlocksBytes, long journalBytes,
        long journalLengthBytes, long dataBytes) {
    /** Data begin at a multiple of this. */
    public static final long ALIGNMENT_BYTES = 1 << 20;
    /** The longest journal. */
    public static final long MAX_JOURNAL_BYTES = 1L << 30;
    /** The largest metadata area. */
    public static final long MAX_BYTES = MAX_JOURNAL_BYTES + 16 * ALIGNMENT_BYTES;

    private static final long PAIR_BYTES = 2L * PagePair.STRIDE_BYTES;
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
        if (journalBytes != 0) {
            if (journalLengthBytes == 0) {
                throw new IllegalArgumentException("a journal without a length");
            }
            end = after(end, "journal", journalBytes, journalLengthBytes);
        }
        if (dataBytes % ALIGNMENT_BYTES != 0 || dataBytes > MAX_BYTES) {
            throw new IllegalArgumentException("data at byte " + dataBytes
                    + ": it must be a multiple of 1 MiB, up to " + MAX_BYTES);
        }
        after(end, "data", dataBytes, 0);
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
     * @param journalOnMembers whether it is on the members, not on a device of its own
     */
    public static MetadataLayout of(Consistency consistency, long journalLengthBytes,
            boolean journalOnMembers) {
        boolean journal = consistency == Consistency.JOURNAL;
        boolean onMembers = journal && journalOnMembers;
        return new MetadataLayout(consistency == Consistency.NONE ? 0 : BITMAP_AT, BAD_BLOCKS_AT,
                onMembers ? ALIGNMENT_BYTES : 0, journal ? journalLengthBytes : 0,
                ALIGNMENT_BYTES + (onMembers ? journalLengthBytes : 0));
    }

    /** A good length of the journal for a member of this size: a 256th, from 1 to 64 MiB. */
    public static long journalLengthBytes(long memberBytes) {
        long share = memberBytes / JOURNAL_SHARE / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
        return Math.clamp(share, ALIGNMENT_BYTES, DEFAULT_MAX_JOURNAL_BYTES);
    }

    /** Blocks that a device of this size has left for data; 0 or less where it is too small. */
    public long dataBlocks(long memberBytes, int blockSize) {
        return (memberBytes - dataBytes) / blockSize;
    }
}
