package lunar.osd.target.attribute;

import lunar.block.StorageException;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.StandardAttribute;
import lunar.scsi.Bytes;

/**
 * A standard attribute with a number of its own.
 *
 * @param id page and number
 * @param getter finds its value
 * @param rule how it may be set
 * @param setter sets it
 */
record StandardValue(AttributeId id, Getter getter, SetRule rule, Setter setter) {
    /** Finds a value; no bytes if the attribute is not set. */
    @FunctionalInterface
    interface Getter {
        Bytes value(AttributeScope scope) throws StorageException;
    }

    /** Sets a value that the rule permits. */
    @FunctionalInterface
    interface Setter {
        void set(AttributeChange change, Bytes value) throws StorageException;
    }

    private static final Setter NONE = (_, _) -> {};

    /** An attribute that only the device changes. */
    static StandardValue readOnly(StandardAttribute attribute, Getter getter) {
        return readOnly(attribute.id(), getter);
    }

    static StandardValue readOnly(AttributeId id, Getter getter) {
        return new StandardValue(id, getter, SetRule.READ_ONLY, NONE);
    }

    /** An attribute that is stored as it was set, and has another value before. */
    static StandardValue stored(StandardAttribute attribute, SetRule rule, Getter initial) {
        AttributeId id = attribute.id();
        return new StandardValue(id, scope -> {
            Bytes value = scope.stored(id);
            return value.length() == 0 ? initial.value(scope) : value;
        }, rule, (change, value) -> change.store(id, value));
    }

    /** An attribute that is stored as it was set, and not set before. */
    static StandardValue stored(StandardAttribute attribute, SetRule rule) {
        return stored(attribute, rule, _ -> Bytes.EMPTY);
    }

    /** An attribute that the command applies otherwise than by storing a value. */
    static StandardValue applied(StandardAttribute attribute, SetRule rule, Getter getter) {
        return new StandardValue(attribute.id(), getter, rule, NONE);
    }
}
