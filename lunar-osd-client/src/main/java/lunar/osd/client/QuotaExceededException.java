package lunar.osd.client;

import java.util.List;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.sense.AttributeIdentification;
import lunar.scsi.Sense;
import org.jspecify.annotations.Nullable;

/** Thrown when a command would exceed a quota. */
public final class QuotaExceededException extends OsdException {
    private static final long serialVersionUID = 1;

    QuotaExceededException(String message, ObjectId object, Sense sense,
            @Nullable Throwable cause) {
        super(message, object, sense, cause);
    }

    /** Returns the attributes that have the quotas; empty if the device does not name them. */
    public List<AttributeId> quotas() {
        return AttributeIdentification.of(sense()).map(AttributeIdentification::ids)
                .orElse(List.of());
    }
}
