package lunar.lucene;

import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.apache.lucene.index.CorruptIndexException;

/**
 * Layout of a formatted device, as recorded in its superblock.
 *
 * @param image ID of the image; contained in all of its metadata, so that metadata of an earlier image is detected
 * @param totalUnits units of the device when it was formatted
 * @param areaUnits units of each of the two metadata areas
 */
record Layout(UUID image, long totalUnits, int areaUnits) {
    /** Bytes of a unit: the smallest piece of a file, and of what metadata are written in. */
    static final int UNIT_BYTES = 4096;

    static final int OWNER_UNIT = 1;

    /** Smallest device: 2 MiB. */
    static final long MIN_UNITS = 512;

    /** Largest device: 4 PiB. */
    static final long MAX_UNITS = 1L << 40;

    static final int MIN_AREA_UNITS = 64;
    static final int MAX_AREA_UNITS = 16384;

    private static final long MAGIC = 0x4C554E41524C5543L; // "LUNARLUC"
    private static final int VERSION = 1;
    private static final int CRC_AT = UNIT_BYTES - Integer.BYTES;

    /** The layout of a device that is to be formatted: metadata take a 128th of it, within limits. */
    static Layout of(UUID image, long totalUnits) {
        if (totalUnits < MIN_UNITS || totalUnits > MAX_UNITS) {
            throw new IllegalArgumentException("a directory needs a device of 2 MiB to 4 PiB, not "
                    + totalUnits * UNIT_BYTES + " bytes");
        }
        return new Layout(image, totalUnits,
                Math.clamp(totalUnits / 256, MIN_AREA_UNITS, MAX_AREA_UNITS));
    }

    long superblockCopyUnit() { return totalUnits - 1; }

    /** First unit of a metadata area, 0 or 1. */
    long areaUnit(int area) {
        return OWNER_UNIT + 1L + (long) area * areaUnits;
    }

    int areaBytes() { return areaUnits * UNIT_BYTES; }

    /** Units that files may have. */
    UnitRun data() {
        long first = areaUnit(2);
        return new UnitRun(first, superblockCopyUnit() - first);
    }

    /** The superblock: one unit. */
    byte[] encode() {
        ByteBuffer unit = ByteBuffer.allocate(UNIT_BYTES);
        unit.putLong(MAGIC).putInt(VERSION).putInt(UNIT_BYTES);
        unit.putLong(image.getMostSignificantBits()).putLong(image.getLeastSignificantBits());
        unit.putLong(totalUnits).putInt(areaUnits);
        return seal(unit.array());
    }

    /**
     * Reads a superblock.
     *
     * @param deviceUnits units of the device, which must not be fewer than when it was formatted
     */
    static Layout decode(byte[] bytes, long deviceUnits, String device)
            throws CorruptIndexException {
        ByteBuffer unit = ByteBuffer.wrap(bytes);
        if (unit.getLong() != MAGIC) {
            throw new CorruptIndexException("the device contains no directory: format it",
                    device);
        }
        if (!isSealed(bytes)) {
            throw new CorruptIndexException("the superblock's checksum does not match", device);
        }
        int version = unit.getInt();
        int unitBytes = unit.getInt();
        if (version != VERSION || unitBytes != UNIT_BYTES) {
            throw new CorruptIndexException("layout version " + version + " with units of "
                    + unitBytes + " bytes is not supported", device);
        }
        var image = new UUID(unit.getLong(), unit.getLong());
        long totalUnits = unit.getLong();
        int areaUnits = unit.getInt();
        if (totalUnits < MIN_UNITS || totalUnits > MAX_UNITS || areaUnits < MIN_AREA_UNITS
                || areaUnits > MAX_AREA_UNITS || 2L * areaUnits + 4 > totalUnits) {
            throw new CorruptIndexException("impossible layout: " + totalUnits
                    + " units with metadata areas of " + areaUnits, device);
        }
        if (totalUnits > deviceUnits) {
            throw new CorruptIndexException("the device was formatted with " + totalUnits
                    + " units, but now has " + deviceUnits, device);
        }
        return new Layout(image, totalUnits, areaUnits);
    }

    /** Puts a unit's checksum at its end. */
    static byte[] seal(byte[] unit) {
        ByteBuffer.wrap(unit).putInt(CRC_AT, crc(unit));
        return unit;
    }

    static boolean isSealed(byte[] unit) {
        return ByteBuffer.wrap(unit).getInt(CRC_AT) == crc(unit);
    }

    private static int crc(byte[] unit) {
        var crc = new CRC32C();
        crc.update(unit, 0, CRC_AT);
        return (int) crc.getValue();
    }
}
