package lunar.scsi.target.copy;

import lunar.scsi.Sense;
import lunar.scsi.Status;

/** Thrown when a copy fails; carries the sense data. Has no stack trace, because hostile peers can cause it often. */
public final class CopyException extends Exception {
    private static final long serialVersionUID = 1;

    private final Status status;
    private final transient Sense sense;

    CopyException(Sense sense) {
        super(sense.toString(), null, false, false);
        status = Status.CHECK_CONDITION;
        this.sense = sense;
    }

    /** Creates an exception that ends the command with a status without sense data. */
    CopyException(Status status) {
        super(status.toString(), null, false, false);
        this.status = status;
        sense = Sense.NONE;
    }

    Status status() { return status; }

    Sense sense() { return sense; }
}
