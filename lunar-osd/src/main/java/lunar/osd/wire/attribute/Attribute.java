package lunar.osd.wire.attribute;

import lunar.osd.field.Fields;
import lunar.scsi.Bytes;

/**
 * An attribute with its value. An attribute without a value, which is not set, has no bytes; setting no bytes deletes
 * it.
 *
 * @param id page and number
 * @param value at most {@link #MAX_LENGTH} bytes
 */
public record Attribute(AttributeId id, Bytes value) {
    /** Most bytes of a value. */
    public static final int MAX_LENGTH = 0xfffe;

    public Attribute {
        Fields.check("attribute length", value.length(), MAX_LENGTH);
    }

    /** An attribute that is not set. */
    public static Attribute unset(AttributeId id) {
        return new Attribute(id, Bytes.EMPTY);
    }

    /** Whether there is a value. */
    public boolean isSet() { return value.length() > 0; }
}
