package lunar.osd.target.command;

import java.util.Optional;
import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.StoredObject;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.scsi.Sense;

/** Finds the objects of commands, or refuses the command with the field that names an object which is not there. */
final class Existing {
    private Existing() {}

    /** The field of the CDB that names an object: its partition, or its own identifier. */
    static int fieldOf(ObjectId object) {
        return object.object() == 0 ? CdbFieldAt.PARTITION : CdbFieldAt.OBJECT;
    }

    /** The sense data for an object that is not there, or not of the type that the command needs. */
    static Sense missing(ObjectId object) {
        return Sense.invalidFieldInCdb(fieldOf(object));
    }

    /** Returns an object of any type. */
    static StoredObject any(ObjectReader objects, ObjectId object)
            throws StorageException, RefusedException {
        Optional<StoredObject> found = objects.find(object);
        if (found.isEmpty()) {
            if (object.object() != 0) {
                StoredObject _ = any(objects, ObjectId.ofPartition(object.partition()));
            }
            throw RefusedException.field(fieldOf(object));
        }
        return found.get();
    }

    /** Returns an object of a type. */
    static StoredObject of(ObjectReader objects, ObjectId object, ObjectType type)
            throws StorageException, RefusedException {
        StoredObject found = any(objects, object);
        if (found.type() != type) {
            throw RefusedException.field(fieldOf(object));
        }
        return found;
    }

    /** Returns a partition, which must exist; the root is none. */
    static StoredObject partition(ObjectReader objects, long partition)
            throws StorageException, RefusedException {
        return of(objects, ObjectId.ofPartition(partition), ObjectType.PARTITION);
    }
}
