package lunar.osd.client;

import lunar.osd.wire.ObjectId;
import lunar.scsi.Sense;
import org.jspecify.annotations.Nullable;

/** Thrown when the device does not accept a capability, a nonce or an integrity check value. */
public final class AccessDeniedException extends OsdException {
    private static final long serialVersionUID = 1;

    AccessDeniedException(String message, ObjectId object, Sense sense, @Nullable Throwable cause) {
        super(message, object, sense, cause);
    }
}
