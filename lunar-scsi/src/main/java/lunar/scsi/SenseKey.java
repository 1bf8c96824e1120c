package lunar.scsi;

/** Sense keys (SPC-5); the ordinal is the code. */
public enum SenseKey {
    NO_SENSE,
    RECOVERED_ERROR,
    NOT_READY,
    MEDIUM_ERROR,
    HARDWARE_ERROR,
    ILLEGAL_REQUEST,
    UNIT_ATTENTION,
    DATA_PROTECT,
    BLANK_CHECK,
    VENDOR_SPECIFIC,
    COPY_ABORTED,
    ABORTED_COMMAND,
    /** Code Ch, obsolete. */
    EQUAL,
    VOLUME_OVERFLOW,
    MISCOMPARE,
    COMPLETED;

    private static final SenseKey[] ALL = values();

    /** The code on the wire. */
    @SuppressWarnings("EnumOrdinal") // the standard numbers them from 0
    public int code() { return ordinal(); }

    /** The key of the low four bits. */
    public static SenseKey of(int code) {
        return ALL[code & 0xf];
    }

    @Override
    public String toString() { return name().replace('_', ' '); }
}
