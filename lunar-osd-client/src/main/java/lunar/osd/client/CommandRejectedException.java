package lunar.osd.client;

import lunar.osd.wire.ObjectId;
import lunar.scsi.Sense;
import org.jspecify.annotations.Nullable;

/** Thrown when a device refuses a command for a reason that has no type of its own; the sense data have it. */
public final class CommandRejectedException extends OsdException {
    private static final long serialVersionUID = 1;

    CommandRejectedException(String message, ObjectId object, Sense sense,
            @Nullable Throwable cause) {
        super(message, object, sense, cause);
    }
}
