package lunar.osd.store;

import lunar.block.StorageException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/**
 * Changes objects and their attributes. Its reads see its own changes. Valid only within the {@link ObjectStore.Change}
 * that it was passed to.
 *
 * <p>Names of objects that are required or forbidden to exist are checked by the caller, which reads them first; a
 * violation throws {@link IllegalStateException}.
 */
public interface ObjectWriter extends ObjectReader {
    /**
     * Creates an object without data and attributes. Its partition must exist.
     *
     * @param timeMs value of all its timestamps
     */
    void create(ObjectId object, ObjectType type, long timeMs) throws StorageException;

    /** Creates a user object with staged data, which becomes the object's. */
    void create(ObjectId object, StagedData data, long timeMs) throws StorageException;

    /** Replaces the data of a user object by staged data. */
    void replaceData(ObjectId object, StagedData data) throws StorageException;

    /**
     * Removes an object with its data, attributes and memberships; members of a removed collection stay. A removed
     * partition takes everything in it along. The root cannot be removed.
     */
    void remove(ObjectId object) throws StorageException;

    /** Removes all partitions and all attributes of the root. */
    void clear() throws StorageException;

    /** Sets an attribute of an object; no bytes delete it. */
    void setAttribute(ObjectId object, AttributeId attribute, Bytes value)
            throws StorageException;

    /** Sets a timestamp. */
    void setTime(ObjectId object, Timestamp which, long timeMs) throws StorageException;

    /** Adds a user object to a collection of its partition; no effect if it is a member. */
    void addMember(ObjectId collection, ObjectId userObject) throws StorageException;

    /** Removes a user object from a collection; no effect if it is not a member. */
    void removeMember(ObjectId collection, ObjectId userObject) throws StorageException;
}
