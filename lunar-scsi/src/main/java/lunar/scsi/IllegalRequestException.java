package lunar.scsi;

/**
 * A command that a target refuses for its bytes: the sense data to answer with CHECK CONDITION. It carries a value
 * and no stack trace, since hostile peers can make it often.
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
