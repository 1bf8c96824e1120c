package lunar.iscsi.pdu;

/**
 * The initiator's half of a session identifier (RFC 7143 section 11.12.5): six bytes that, with the initiator's name,
 * identify a SCSI initiator port.
 *
 * <pre>
 * |T T|    A    |       B       |       B       |       C       |       D       |       D       |
 * </pre>
 *
 * @param value the six bytes, big-endian, in the low 48 bits
 */
public record Isid(long value) {
    /** Bytes on the wire. */
    public static final int LENGTH = 6;

    private static final long MAX = (1L << 48) - 1;
    private static final int ENTERPRISE = 1;
    private static final int RANDOM = 2;
    private static final int OUI_BITS = 0x3f_ffff;
    private static final int AUTHORITY_BITS = 0xff_ffff;

    /** Kinds of naming authority that assign the bytes after the first two bits (the field T). */
    public enum Type {
        /** An IEEE company identifier of 22 bits, then a qualifier of 24. */
        OUI,
        /** An IANA enterprise number of 24 bits, then a qualifier of 16. */
        ENTERPRISE_NUMBER,
        /** A random number of 24 bits, then a qualifier of 16. */
        RANDOM,
        /** The code 11b, which the RFC reserves. */
        RESERVED
    }

    public Isid {
        if (value < 0 || value > MAX) {
            throw new IllegalArgumentException(
                    "an ISID has 48 bits, not 0x" + Long.toHexString(value));
        }
    }

    /** An ISID of type random. The caller draws the number. */
    public static Isid random(int number24, int qualifier16) {
        return of(RANDOM, number24, qualifier16);
    }

    /** An ISID of type enterprise number. */
    public static Isid enterprise(int number24, int qualifier16) {
        return of(ENTERPRISE, number24, qualifier16);
    }

    /** Returns the kind of naming authority that assigned the number. */
    public Type type() {
        return switch ((int) (value >>> 46)) {
            case 0 -> Type.OUI;
            case ENTERPRISE -> Type.ENTERPRISE_NUMBER;
            case RANDOM -> Type.RANDOM;
            default -> Type.RESERVED;
        };
    }

    /** The company identifier, enterprise number or random number, as the type says. */
    public int namingAuthority() {
        return switch (type()) {
            case OUI -> (int) (value >>> 24) & OUI_BITS;
            case ENTERPRISE_NUMBER, RANDOM, RESERVED -> (int) (value >>> 16) & AUTHORITY_BITS;
        };
    }

    /** Returns the number chosen by the naming authority, or by the initiator for it: 24 bits with an OUI, else 16. */
    public int qualifier() {
        return switch (type()) {
            case OUI -> (int) value & AUTHORITY_BITS;
            case ENTERPRISE_NUMBER, RANDOM, RESERVED -> (int) value & 0xffff;
        };
    }

    static Isid decode(Bhs bhs) { return new Isid(bhs.int64(Bhs.LUN) >>> 16); }

    /** Twelve hexadecimal digits, as logs of other initiators and targets print it. */
    @Override
    public String toString() { return String.format("%012x", value); }

    private static Isid of(int type, int number24, int qualifier16) {
        if ((number24 & ~AUTHORITY_BITS) != 0 || (qualifier16 & ~0xffff) != 0) {
            throw new IllegalArgumentException(
                    "ISID of 24 and 16 bits, not " + number24 + " and " + qualifier16);
        }
        return new Isid((long) type << 46 | (long) number24 << 16 | qualifier16);
    }
}
