package lunar.raid.metadata.checksum;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.record.MetadataLayout;

/** On-disk format of a member's checksums, one for each block of the data area (docs/raid-format.md, "Checksums"). */
public final class ChecksumFormat {
    static final long MAGIC = Page.magic("LUNARSUM");
    static final int FORMAT_VERSION = 1;
    static final int NUMBER = 40;
    static final int CHECKSUMS = 64;
    /** Checksums of a page. */
    public static final int PER_PAGE = MetadataLayout.CHECKSUMS_PER_PAGE;
    /** A page has one location, so its generation tells nothing. */
    static final long GENERATION = 1;
    /** Stands for the checksum of a block of which nothing is known. */
    public static final int UNKNOWN = 0;
    /** Stands for a CRC32C that equals {@link #UNKNOWN}. */
    private static final int INSTEAD = 1;

    private ChecksumFormat() {}

    /** Pages for so many blocks. */
    public static long pages(long blocks) {
        return Math.ceilDiv(blocks, PER_PAGE);
    }

    /** Returns which one of its page the checksum of a block of the data area is. */
    static int place(long block) {
        return (int) (block % PER_PAGE);
    }

    /** Returns the offset in a page of the checksum of a block of the data area. */
    public static int at(long block) {
        return CHECKSUMS + place(block) * Integer.BYTES;
    }

    /** The checksum of some bytes. */
    static int of(ByteBuffer bytes, int at, int length, CRC32C crc) {
        crc.reset();
        crc.update(bytes.limit(at + length).position(at));
        int checksum = (int) crc.getValue();
        return checksum == UNKNOWN ? INSTEAD : checksum;
    }
}
