package lunar.raid.metadata.journal;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.VolumeRecord;
import org.jspecify.annotations.Nullable;

/** The bytes of a journal: docs/raid-format.md, "Journal". */
public final class JournalFormat {
    /** Entries begin at multiples of this. */
    static final int UNIT_BYTES = 512;
    /** Writes begin and end at multiples of this. */
    public static final int WRITE_BYTES = 4096;
    /** Offset of the ring from the start of the journal, behind the two locations of its page. */
    public static final int RING_AT = 2 * PagePair.STRIDE_BYTES;
    /** Longest entry, its head included. */
    static final int MAX_ENTRY_BYTES = 1 << 20;
    /** The ring is at least so many times as long as the longest entry that goes into it. */
    static final int RING_BATCHES = 4;
    /** Most extents of an entry. */
    static final int MAX_EXTENTS = 2 * Superblock.MAX_MEMBERS;
    /** Most entries from the one that the page names to the end. */
    static final int MAX_ENTRIES = 4096;

    static final long PAGE_MAGIC = Page.magic("LUNARJNL");
    static final int FORMAT_VERSION = 1;
    static final int PAGE_KEY = 40;
    static final int PAGE_RING_BYTES = 56;
    static final int PAGE_TAIL_POSITION = 64;
    static final int PAGE_TAIL_SEQUENCE = 72;

    private static final long ENTRY_MAGIC = Page.magic("LUNARENT");
    private static final int KEY = 8;
    private static final int SEQUENCE = 24;
    private static final int TAIL_SEQUENCE = 32;
    private static final int TAIL_POSITION = 40;
    private static final int LENGTH = 48;
    private static final int KIND = 52;
    private static final int STRIPE = 56;
    private static final int EXTENTS = 64;
    private static final int CHECKSUM = 68;
    private static final int FIRST_EXTENT = 80;

    private static final int EXTENT_BYTES = 24;
    private static final int EXTENT_SLOT = 0;
    private static final int EXTENT_BLOCKS = 4;
    private static final int EXTENT_BLOCK = 8;
    private static final int EXTENT_CHECKSUM = 16;

    /** The kind of an entry. */
    enum Kind {
        /** Data follow that are to be written in place. */
        DATA(1),
        /** These blocks are being written, with data of these checksums, that are not in the journal. */
        NOTE(2),
        /** Padding up to the end of the ring. */
        PAD(3);

        private final int code;

        Kind(int code) { this.code = code; }
    }

    /** A part of an entry. */
    record Part(int slot, long memberBlock, int blocks, int checksum) {}

    /** An entry's head, as it was found. */
    record Head(Kind kind, long sequence, long tailSequence, long tailPosition, int lengthBytes,
            long stripe, List<Part> parts) {
        int headBytes() { return JournalFormat.headBytes(parts.size()); }
    }

    private JournalFormat() {}

    static int headBytes(int extents) {
        return Math.ceilDiv(FIRST_EXTENT + extents * EXTENT_BYTES, UNIT_BYTES) * UNIT_BYTES;
    }

    /** Longest head. */
    public static int maxHeadBytes() { return headBytes(MAX_EXTENTS); }

    static void putHead(ByteBuffer to, int at, Kind kind, UUID key, long sequence,
            long tailSequence, long tailPosition, long stripe, int extents) {
        for (int i = 0; i < headBytes(extents); i += Long.BYTES) {
            to.putLong(at + i, 0);
        }
        to.putLong(at, ENTRY_MAGIC);
        Page.putUuid(to, at + KEY, key);
        to.putLong(at + SEQUENCE, sequence).putLong(at + TAIL_SEQUENCE, tailSequence);
        to.putLong(at + TAIL_POSITION, tailPosition).putInt(at + KIND, kind.code);
        to.putLong(at + STRIPE, stripe).putInt(at + EXTENTS, extents);
    }

    static void putExtent(ByteBuffer to, int entryAt, int index, int slot, long memberBlock,
            int blocks, int checksum) {
        int at = entryAt + FIRST_EXTENT + index * EXTENT_BYTES;
        to.putInt(at + EXTENT_SLOT, slot).putInt(at + EXTENT_BLOCKS, blocks);
        to.putLong(at + EXTENT_BLOCK, memberBlock).putInt(at + EXTENT_CHECKSUM, checksum);
    }

    /** Sets the length of an entry and the checksum of its head. */
    static void sealHead(ByteBuffer to, int at, int lengthBytes, CRC32C crc) {
        to.putInt(at + LENGTH, lengthBytes);
        to.putInt(at + CHECKSUM, 0);
        to.putInt(at + CHECKSUM, checksum(to, at, headBytes(to.getInt(at + EXTENTS)), crc));
    }

    /** Returns the checksum of a part of a buffer; changes the buffer's position and limit. */
    static int checksum(ByteBuffer of, int at, int length, CRC32C crc) {
        crc.reset();
        crc.update(of.clear().limit(at + length).position(at));
        of.clear();
        return (int) crc.getValue();
    }

    /**
     * The head at the start of these bytes, or null where there is none that this journal wrote: whatever its numbers
     * say is within these bytes and limits.
     *
     * @param room bytes from here to the end of the ring
     */
    static @Nullable Head head(ByteBuffer bytes, UUID key, VolumeRecord volume, long room) {
        if (bytes.limit() < UNIT_BYTES || bytes.getLong(0) != ENTRY_MAGIC
                || !Page.uuid(bytes, KEY).equals(key)) {
            return null;
        }
        int extents = bytes.getInt(EXTENTS);
        if (extents < 0 || extents > MAX_EXTENTS || headBytes(extents) > bytes.limit()) {
            return null;
        }
        int sum = bytes.getInt(CHECKSUM);
        ByteBuffer copy = ByteBuffer.allocate(headBytes(extents));
        copy.put(0, bytes, 0, copy.capacity()).putInt(CHECKSUM, 0);
        if (checksum(copy, 0, copy.capacity(), new CRC32C()) != sum) {
            return null;
        }
        Kind kind = kind(bytes.getInt(KIND));
        int length = bytes.getInt(LENGTH);
        long tailPosition = bytes.getLong(TAIL_POSITION);
        if (kind == null || length < headBytes(extents) || length > room
                || length % UNIT_BYTES != 0 || tailPosition < 0
                || tailPosition % UNIT_BYTES != 0) {
            return null;
        }
        var parts = new ArrayList<Part>(extents);
        long dataBytes = 0;
        for (int i = 0; i < extents; i++) {
            int at = FIRST_EXTENT + i * EXTENT_BYTES;
            var part = new Part(bytes.getInt(at + EXTENT_SLOT), bytes.getLong(at + EXTENT_BLOCK),
                    bytes.getInt(at + EXTENT_BLOCKS), bytes.getInt(at + EXTENT_CHECKSUM));
            if (!isOn(volume, part)) {
                return null;
            }
            dataBytes += (long) part.blocks() * volume.description().blockSize();
            parts.add(part);
        }
        if (kind == Kind.DATA && (length > MAX_ENTRY_BYTES
                || dataBytes > length - headBytes(extents))) {
            return null;
        }
        return new Head(kind, bytes.getLong(SEQUENCE), bytes.getLong(TAIL_SEQUENCE), tailPosition,
                length, bytes.getLong(STRIPE), parts);
    }

    private static boolean isOn(VolumeRecord volume, Part part) {
        if (part.slot() < 0 || part.slot() >= volume.description().slots() || part.blocks() <= 0
                || part.memberBlock() < 0) {
            return false;
        }
        return part.memberBlock() <= volume.members().get(part.slot()).dataBlocks() - part.blocks();
    }

    private static @Nullable Kind kind(int code) {
        for (Kind kind : Kind.values()) {
            if (kind.code == code) {
                return kind;
            }
        }
        return null;
    }
}
