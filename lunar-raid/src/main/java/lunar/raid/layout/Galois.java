package lunar.raid.layout;

/**
 * The field of 256 elements that RAID 6 computes in, as Linux md's: generator 2, polynomial x^8 + x^4 + x^3 + x^2 + 1
 * (H. P. Anvin, "The mathematics of RAID-6"). A sum is an exclusive or.
 */
public final class Galois {
    /** The remainder of x^8 modulo the polynomial. */
    static final int REDUCTION = 0x1d;

    private static final int ORDER = 255;
    private static final int[] POWERS = new int[2 * ORDER];
    private static final int[] LOGARITHMS = new int[256];

    static {
        int value = 1;
        for (int i = 0; i < 2 * ORDER; i++) {
            POWERS[i] = value;
            if (i < ORDER) {
                LOGARITHMS[value] = i;
            }
            value <<= 1;
            if (value > 0xff) {
                value = (value & 0xff) ^ REDUCTION;
            }
        }
    }

    private Galois() {}

    /** The generator to a power, which may be negative. */
    public static int power(int exponent) {
        return POWERS[Math.floorMod(exponent, ORDER)];
    }

    /** Returns the logarithm, to the generator, of a value other than 0. */
    public static int logarithm(int value) {
        if (value == 0) {
            throw new IllegalArgumentException("0 is no power of the generator");
        }
        return LOGARITHMS[value];
    }

    /** The product. */
    public static int times(int a, int b) {
        return a == 0 || b == 0 ? 0 : POWERS[LOGARITHMS[a] + LOGARITHMS[b]];
    }

    /** The quotient by a value other than 0. */
    public static int over(int a, int b) {
        return a == 0 ? 0 : power(logarithm(a) - logarithm(b));
    }
}
