package lunar.iscsi;

/**
 * Serial number arithmetic modulo 2^32 (RFC 1982; RFC 7143 section 4.2.2.1). CmdSN, StatSN, DataSN and R2TSN wrap, so
 * they must be compared by these methods, never with {@code <}. Two numbers 2^31 apart are unordered: neither is less.
 */
public final class SerialNumbers {
    private SerialNumbers() {}

    /** Whether {@code a} comes before {@code b}. */
    public static boolean lessThan(int a, int b) {
        return b - a > 0;
    }

    /** Whether {@code a} is {@code b} or comes before it. */
    public static boolean lessOrEqual(int a, int b) {
        return b - a >= 0;
    }

    /** The later of two; {@code a} where they have no order. */
    public static int max(int a, int b) {
        return lessThan(a, b) ? b : a;
    }

    /** How far {@code a} is ahead of {@code b}; negative where it is behind. */
    public static int difference(int a, int b) {
        return a - b;
    }
}
