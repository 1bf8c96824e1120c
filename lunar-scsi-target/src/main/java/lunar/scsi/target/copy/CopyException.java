package lunar.scsi.target.copy;

import lunar.scsi.Sense;
import lunar.scsi.Status;

/** A copy that cannot go on: the sense data that say why. It has no stack trace: hostile peers can make it often. */
public final class CopyException extends Exception {
    private static final long serialVersionUID = 1;

    private final Status status;
    private final transient Sense sense;

    CopyException(Sense sense) {
        super(sense.toString(), null, false, false);
        status = Status.CHECK_CONDITION;
        this.sense = sense;
    }

    /** Ends the command with a status that has no sense data. */
    CopyException(Status status) {
        super(status.toString(), null, false, false);
        this.status = status;
        sense = Sense.NONE;
    }

    Status status() { return status; }

    Sense sense() { return sense; }
}
