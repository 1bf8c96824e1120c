package lunar.raid;

/** What a {@link StripeTask} does with a stripe. */
enum StripeWork {
    /** Data go into the buffer. */
    READ,
    /** Data come out of the buffer. */
    WRITE,
    /** Nothing but the lock is wanted. */
    LOCK,
    /** Units are computed and written, and nothing else changes. */
    RESTORE,
    /** Data of some units are lost: they become zeroes, and parity is made true for that. */
    FORGET,
    /** Redundant units are compared with the data; {@link StripeTask#difference} is there afterwards. */
    VERIFY
}
