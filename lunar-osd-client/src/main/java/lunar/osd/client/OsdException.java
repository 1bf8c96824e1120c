package lunar.osd.client;

import java.io.IOException;
import lunar.osd.wire.ObjectId;
import lunar.scsi.Sense;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when an object-based storage device refuses a command. The message has the command, the object and the sense
 * data, for people; programs decide by the type. Sending the command again has the same result unless something else
 * has changed.
 */
public abstract sealed class OsdException extends IOException permits NoSuchObjectException,
        ObjectExistsException,
        NotEmptyException,
        QuotaExceededException,
        AccessDeniedException,
        CommandRejectedException {
    private static final long serialVersionUID = 1;

    private final transient ObjectId object;
    private final transient Sense sense;

    OsdException(String message, ObjectId object, Sense sense, @Nullable Throwable cause) {
        super(message, cause);
        this.object = object;
        this.sense = sense;
    }

    /** Returns the object that the device names as the one in error, or else the one that the command addressed. */
    public ObjectId object() {
        return object;
    }

    /** Returns the sense data. */
    public Sense sense() { return sense; }
}
