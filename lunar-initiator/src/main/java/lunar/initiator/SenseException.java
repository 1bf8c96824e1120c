package lunar.initiator;

import java.util.Optional;
import lunar.block.StorageException;
import lunar.scsi.Sense;

/**
 * Carries the sense data of a failure: the cause of every {@link StorageException} that represents a CHECK CONDITION.
 * The type of that exception classifies the failure; this one has the details, such as the rejected field of a CDB. Has
 * no stack trace.
 */
public final class SenseException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient Sense sense;

    /** @param sense the decoded sense data */
    public SenseException(Sense sense) {
        super(sense.toString(), null, false, false);
        this.sense = sense;
    }

    /** Returns the decoded sense data (SPC-5 section 4.5). */
    public Sense sense() { return sense; }

    /** Returns the sense data behind a failure; empty for one that the target did not report by sense data. */
    public static Optional<Sense> of(StorageException failure) {
        return failure.getCause() instanceof SenseException told
                ? Optional.of(told.sense)
                : Optional.empty();
    }
}
