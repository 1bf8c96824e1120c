package lunar.scsi.target;

/**
 * The access of a command to the medium, by which the state of the medium and reservations let the command pass
 * (SPC-5 section 5.13.1, SBC-4 section 4.17, with their tables of commands).
 */
public enum Access {
    /** Nothing: it always passes. */
    FREE(false),
    /** Asks whether the medium is there. */
    READY(true),
    /** Reads the medium: stopped by reservations of exclusive access. */
    READ(true),
    /** Tells of the unit and not of the medium, and yet is stopped by reservations of exclusive access. */
    INFORM(false),
    /** Changes the medium: stopped by every reservation of others. */
    WRITE(true),
    /** Does not need the medium, but changes how others see the unit: stopped by every reservation of others. */
    CONTROL(false);

    private final boolean needsMedium;

    Access(boolean needsMedium) { this.needsMedium = needsMedium; }

    /** Whether the command fails while the medium is not ready. */
    public boolean needsMedium() {
        return needsMedium;
    }
}
