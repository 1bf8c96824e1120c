package lunar.osd.target.attribute;

import lunar.block.StorageException;
import lunar.osd.store.ObjectWriter;
import lunar.osd.store.StoredObject;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/**
 * An object whose attributes are set.
 *
 * @param objects the change of the store
 * @param object the object
 */
public record AttributeChange(ObjectWriter objects, StoredObject object) {
    ObjectId id() { return object.id(); }

    void store(AttributeId attribute, Bytes value) throws StorageException {
        objects.setAttribute(object.id(), attribute, value);
    }
}
