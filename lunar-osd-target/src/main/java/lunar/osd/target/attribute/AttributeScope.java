package lunar.osd.target.attribute;

import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.StoredObject;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/**
 * An object whose attributes are retrieved.
 *
 * @param objects state of the store
 * @param object the object
 * @param version version of the command
 * @param current results of the command
 * @param facts state of the device
 */
public record AttributeScope(ObjectReader objects, StoredObject object, OsdVersion version,
        CurrentCommand current, DeviceFacts facts) {
    ObjectId id() { return object.id(); }

    ObjectType type() { return object.type(); }

    /** Returns the value that is stored for an attribute; no bytes for none. */
    Bytes stored(AttributeId id) throws StorageException {
        return objects.attribute(object.id(), id);
    }
}
