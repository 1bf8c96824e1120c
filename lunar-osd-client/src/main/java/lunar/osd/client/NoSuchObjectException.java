package lunar.osd.client;

import lunar.osd.wire.ObjectId;
import lunar.scsi.Sense;
import org.jspecify.annotations.Nullable;

/** Thrown when the partition, collection or user object of a command does not exist. */
public final class NoSuchObjectException extends OsdException {
    private static final long serialVersionUID = 1;

    NoSuchObjectException(String message, ObjectId object, Sense sense, @Nullable Throwable cause) {
        super(message, object, sense, cause);
    }
}
