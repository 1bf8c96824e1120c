package lunar.osd.target.attribute;

import java.util.List;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.sense.AttributeIdentification;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;

/**
 * Thrown for a command that cannot be executed; carries the sense data, to which the object is added. Has no stack
 * trace, because hostile peers can cause it often.
 */
public final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient Sense sense;

    /** @param sense sense data of the CHECK CONDITION */
    public RefusedException(Sense sense) {
        super(sense.toString(), null, false, false);
        this.sense = sense;
    }

    /** INVALID FIELD IN CDB (24h/00h), with the byte in error. */
    public static RefusedException field(int byteAt) {
        return new RefusedException(Sense.invalidFieldInCdb(byteAt));
    }

    /** ILLEGAL REQUEST with another additional sense. */
    public static RefusedException illegal(AdditionalSense additional) {
        return new RefusedException(Sense.of(SenseKey.ILLEGAL_REQUEST, additional));
    }

    /** QUOTA ERROR (55h/07h), with the attribute that has the quota. */
    public static RefusedException quota(AttributeId quota) {
        return new RefusedException(
                Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.QUOTA_ERROR).withDescriptor(
                        new AttributeIdentification(List.of(quota)).descriptor()));
    }

    /** Returns the sense data. */
    public Sense sense() { return sense; }
}
