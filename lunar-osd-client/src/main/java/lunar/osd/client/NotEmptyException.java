package lunar.osd.client;

import lunar.osd.wire.ObjectId;
import lunar.scsi.Sense;
import org.jspecify.annotations.Nullable;

/** Thrown when a partition or collection that is to be removed is not empty. */
public final class NotEmptyException extends OsdException {
    private static final long serialVersionUID = 1;

    NotEmptyException(String message, ObjectId object, Sense sense, @Nullable Throwable cause) {
        super(message, object, sense, cause);
    }
}
