package lunar.osd.client;

import lunar.osd.wire.ObjectId;
import lunar.scsi.Sense;
import org.jspecify.annotations.Nullable;

/** Thrown when a partition, collection or user object with the requested identifier exists already. */
public final class ObjectExistsException extends OsdException {
    private static final long serialVersionUID = 1;

    ObjectExistsException(String message, ObjectId object, Sense sense, @Nullable Throwable cause) {
        super(message, object, sense, cause);
    }
}
