package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;

/**
 * Difference between the data transferred and the Expected Data Transfer Length (RFC 7143 section 11.4.5).
 *
 * @param kind overflow, underflow or none
 * @param bytes the count, unsigned; 0 without a flag
 */
public record Residual(Kind kind, int bytes) {
    /** Meaning of the flags O and U. */
    public enum Kind {
        /** All bytes were transferred, and no more were needed. */
        NONE,
        /** O: the command needed more bytes than the initiator expected; the rest was not transferred. */
        OVERFLOW,
        /** U: fewer bytes than expected were transferred. */
        UNDERFLOW
    }

    /** No residual. */
    public static final Residual NONE = new Residual(Kind.NONE, 0);

    private static final int OVERFLOW = 2;
    private static final int UNDERFLOW = 1;

    public Residual {
        if (kind == Kind.NONE && bytes != 0) {
            throw new IllegalArgumentException("a residual of " + bytes + " bytes without a flag");
        }
    }

    /** Returns the residual of a command of {@code actualBytes} against its expected length (32-bit lengths). */
    public static Residual of(long expectedBytes, long actualBytes) {
        long missing = expectedBytes - actualBytes;
        if (missing == 0) {
            return NONE;
        }
        return missing > 0
                ? new Residual(Kind.UNDERFLOW, (int) missing)
                : new Residual(Kind.OVERFLOW, (int) -missing);
    }

    /** From the two bits of flags, O above U. */
    static Residual decode(int overAndUnder, int bytes) throws ProtocolException {
        return switch (overAndUnder) {
            case 0 -> NONE;
            case UNDERFLOW -> new Residual(Kind.UNDERFLOW, bytes);
            case OVERFLOW -> new Residual(Kind.OVERFLOW, bytes);
            default -> throw new ProtocolException(
                    "overflow and underflow exclude each other (RFC 7143 section 11.4.1)");
        };
    }

    /** The two bits of flags, O above U. */
    int flags() {
        return switch (kind) {
            case NONE -> 0;
            case OVERFLOW -> OVERFLOW;
            case UNDERFLOW -> UNDERFLOW;
        };
    }

    @Override
    public String toString() {
        return switch (kind) {
            case NONE -> "none";
            case OVERFLOW -> "+" + Integer.toUnsignedString(bytes);
            case UNDERFLOW -> "-" + Integer.toUnsignedString(bytes);
        };
    }
}
