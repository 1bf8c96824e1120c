package lunar.scsi;

/**
 * Thrown for a command that a target must reject; carries the sense data of the CHECK CONDITION. Has no stack trace,
 * because hostile peers can cause it often.
 */
public abstract sealed class IllegalRequestException extends ScsiException
        permits InvalidCdbException, InvalidParameterListException {
    private final transient Sense sense;

    IllegalRequestException(Sense sense) {
        super(sense.toString());
        this.sense = sense;
    }

    /** Returns the sense data to answer with. */
    public final Sense sense() { return sense; }

    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized")
    public final Throwable fillInStackTrace() { return this; }
}
