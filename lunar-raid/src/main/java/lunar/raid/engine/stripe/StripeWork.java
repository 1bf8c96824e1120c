package lunar.raid.engine.stripe;

/** The kinds of work of a {@link StripeTask}. */
enum StripeWork {
    /** Reads data into the buffer. */
    READ,
    /** Writes data from the buffer. */
    WRITE,
    /** Takes the lock only. */
    LOCK,
    /** Computes and writes units, and changes nothing else. */
    RESTORE,
    /** Zeroes units that have lost their data, and computes parity for that. */
    ZERO_LOST,
    /** Compares redundant units with the data; {@link StripeTask#difference} returns the result. */
    VERIFY
}
