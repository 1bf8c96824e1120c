package lunar.scsi.target;

/**
 * Access of a command to the medium; decides whether the state of the medium and reservations permit the command (SPC-5
 * section 5.13.1, SBC-4 section 4.17, with their tables of commands).
 */
public enum Access {
    /** No access: always permitted. */
    FREE(false),
    /** Tests whether the medium is present. */
    READY(true),
    /** Reads the medium: conflicts with exclusive access reservations. */
    READ(true),
    /** Reads information about the unit rather than the medium, but conflicts with exclusive access reservations. */
    INFORM(false),
    /** Changes the medium: conflicts with every reservation of another nexus. */
    WRITE(true),
    /**
     * Does not need the medium, but changes state that other nexuses see: conflicts with every reservation of another
     * nexus.
     */
    CONTROL(false);

    private final boolean needsMedium;

    Access(boolean needsMedium) { this.needsMedium = needsMedium; }

    /** Whether the command fails while the medium is not ready. */
    public boolean needsMedium() {
        return needsMedium;
    }
}
