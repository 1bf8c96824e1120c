package lunar.target.device;

/** What a command does to the medium, by which reservations let it pass (SPC-5 section 5.13.1). */
enum Access {
    /** Nothing: it passes whatever is reserved. */
    NONE,
    /** Reads it: stopped by reservations of exclusive access. */
    READ,
    /** Changes it, or how others see it: stopped by every reservation of others. */
    WRITE
}
