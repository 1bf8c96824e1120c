package lunar.raid.metadata.page;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * 4 KiB of metadata, with the head that all kinds of pages have in common:
 *
 * <pre>
 *  0  magic
 *  8  version (4 bytes)        12  CRC32C of the page, these 4 bytes taken for 0
 * 16  generation
 * 24  UUID of the volume (16 bytes)
 * 40  what the kind of page has
 * </pre>
 */
public final class Page {
    public static final int BYTES = 4096;
    /** Larger than any generation that is reached; a page with a larger one is invalid. */
    public static final long MAX_GENERATION = 1L << 62;

    private static final int MAGIC = 0;
    private static final int VERSION = 8;
    private static final int CHECKSUM = 12;
    private static final int GENERATION = 16;
    private static final int VOLUME = 24;

    private final MemorySegment segment = Arena.ofAuto().allocate(BYTES, BYTES);
    private final ByteBuffer bytes = segment.asByteBuffer();

    /** Returns the memory that is written to a device and read from it. */
    public MemorySegment segment() {
        return segment;
    }

    /** Returns the same bytes, big-endian; their position and limit have no meaning. */
    public ByteBuffer bytes() {
        return bytes;
    }

    public Page clear() {
        segment.fill((byte) 0);
        return this;
    }

    /** Fills in the head, the checksum last. */
    public void seal(long magic, int version, long generation, UUID volume) {
        bytes.putLong(MAGIC, magic).putInt(VERSION, version).putLong(GENERATION, generation);
        putUuid(bytes, VOLUME, volume);
        bytes.putInt(CHECKSUM, checksum());
    }

    public boolean hasMagic(long magic) { return bytes.getLong(MAGIC) == magic; }

    /** Whether the checksum says that this is what was written once. */
    public boolean isWhole() {
        return bytes.getInt(CHECKSUM) == checksum();
    }

    public int version() { return bytes.getInt(VERSION); }

    public long generation() { return bytes.getLong(GENERATION); }

    public UUID volume() { return uuid(bytes, VOLUME); }

    private int checksum() {
        var crc = new CRC32C();
        crc.update(bytes.clear().limit(CHECKSUM));
        for (int i = 0; i < Integer.BYTES; i++) {
            crc.update(0);
        }
        crc.update(bytes.limit(BYTES).position(CHECKSUM + Integer.BYTES));
        bytes.clear();
        return (int) crc.getValue();
    }

    /** Eight ASCII characters as a number. */
    public static long magic(String text) {
        long magic = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            magic = magic << 8 | text.charAt(i);
        }
        return magic;
    }

    public static UUID uuid(ByteBuffer from, int at) {
        return new UUID(from.getLong(at), from.getLong(at + Long.BYTES));
    }

    public static void putUuid(ByteBuffer to, int at, UUID uuid) {
        to.putLong(at, uuid.getMostSignificantBits());
        to.putLong(at + Long.BYTES, uuid.getLeastSignificantBits());
    }
}
