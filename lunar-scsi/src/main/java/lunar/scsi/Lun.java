package lunar.scsi;

/**
 * A logical unit number in its eight-byte form (SAM-5 section 4.7).
 *
 * @param value the eight bytes, big-endian
 */
public record Lun(long value) {
    /** LUN 0. */
    public static final Lun ZERO = new Lun(0);

    /** The REPORT LUNS well-known logical unit (SPC-5 section 9.2): extended addressing, W-LUN 01h. */
    public static final Lun REPORT_LUNS = new Lun(0xc101_0000_0000_0000L);

    private static final int PERIPHERAL_MAX = 0xff;
    private static final int FLAT_MAX = 0x3fff;

    /** A single-level LUN by its number: peripheral addressing to 255, flat space addressing above. */
    public static Lun of(int number) {
        if (number < 0 || number > FLAT_MAX) {
            throw new IllegalArgumentException("LUN must be 0 to " + FLAT_MAX + ", not " + number);
        }
        return new Lun(number <= PERIPHERAL_MAX ? (long) number << 48 : (0x4000L | number) << 48);
    }

    /**
     * Returns the number of a single-level LUN, in either addressing method; -1 for every other form, not an
     * OptionalInt, which each command would allocate.
     */
    public int number() {
        if ((value & 0xffff_ffff_ffffL) != 0) {
            return -1;
        }
        int first = (int) (value >>> 48);
        return switch (first >> 14) {
            case 0 -> first <= PERIPHERAL_MAX ? first : -1; // peripheral, bus 0
            case 1 -> first & FLAT_MAX; // flat space
            default -> -1;
        };
    }

    @Override
    public String toString() {
        int number = number();
        return number >= 0 ? Integer.toString(number) : String.format("0x%016x", value);
    }
}
