package lunar.osd.wire;

import java.util.OptionalLong;

/**
 * Offsets into data-in and data-out as 32 bits.
 *
 * <pre>
 * bit 31..28 exponent e   27..0 mantissa m   offset = m * 2^(e + 8) bytes
 * </pre>
 *
 * <p>In OSD-1 the exponent is 0 to 15. In OSD-2 it is a signed number, -5 to 7: offsets are multiples of eight bytes.
 * FFFFFFFFh says that the field is not used.
 */
public final class EncodedOffset {
    /** The field is not used. */
    public static final int UNUSED = 0xffff_ffff;

    private static final int MANTISSA_BITS = 28;
    private static final int MANTISSA_MAX = (1 << MANTISSA_BITS) - 1;
    private static final int UNIT_BITS = 8;
    private static final int MIN_EXPONENT_OSD_2 = -5;
    private static final int MAX_EXPONENT_OSD_2 = 7;
    private static final int MAX_EXPONENT_OSD_1 = 15;

    private EncodedOffset() {}

    /** The offset in bytes; empty for {@link #UNUSED} and for an exponent that the version does not have. */
    public static OptionalLong decode(int encoded, OsdVersion version) {
        // An arithmetic shift for the signed exponent of OSD-2.
        int exponent = version == OsdVersion.OSD_1
                ? encoded >>> MANTISSA_BITS
                : encoded >> MANTISSA_BITS;
        if (encoded == UNUSED || exponent < minExponent(version)) {
            return OptionalLong.empty();
        }
        return OptionalLong.of((long) (encoded & MANTISSA_MAX) << (exponent + UNIT_BITS));
    }

    /**
     * Encodes an offset, with the smallest exponent that does.
     *
     * @throws IllegalArgumentException if no exponent represents the offset; see {@link #roundUp}
     */
    public static int encode(long offset, OsdVersion version) {
        if (offset == 0) {
            return 0;
        }
        for (int exponent = minExponent(version); exponent <= maxExponent(version); exponent++) {
            int encoded = encode(offset, exponent);
            if (encoded != UNUSED) {
                return encoded;
            }
        }
        throw new IllegalArgumentException("offset " + offset + " cannot be encoded");
    }

    /**
     * The smallest offset, not below one, that can be encoded.
     *
     * @throws IllegalArgumentException for an offset beyond all that can be encoded
     */
    public static long roundUp(long offset, OsdVersion version) {
        for (int exponent = minExponent(version); exponent <= maxExponent(version); exponent++) {
            long unit = 1L << (exponent + UNIT_BITS);
            if (offset >= 0 && offset <= (long) MANTISSA_MAX * unit) {
                long rounded = offset + unit - 1 & -unit;
                if (rounded == 0 || encode(rounded, exponent) != UNUSED) {
                    return rounded;
                }
            }
        }
        throw new IllegalArgumentException("offset " + offset + " cannot be encoded");
    }

    /** With this exponent, or {@link #UNUSED}. */
    private static int encode(long offset, int exponent) {
        int shift = exponent + UNIT_BITS;
        long mantissa = offset >> shift;
        return offset > 0 && mantissa << shift == offset && mantissa <= MANTISSA_MAX
                ? exponent << MANTISSA_BITS | (int) mantissa
                : UNUSED;
    }

    private static int minExponent(OsdVersion version) {
        return version == OsdVersion.OSD_1 ? 0 : MIN_EXPONENT_OSD_2;
    }

    private static int maxExponent(OsdVersion version) {
        return version == OsdVersion.OSD_1 ? MAX_EXPONENT_OSD_1 : MAX_EXPONENT_OSD_2;
    }
}
