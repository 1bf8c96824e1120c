package lunar.osd.store;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import lunar.block.StorageException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/**
 * Reads objects and their attributes in a consistent state. Valid only within the {@link ObjectStore.Query} or {@link
 * ObjectStore.Change} that it was passed to; used by its thread alone. Identifiers are unsigned, and lists are in their
 * ascending order.
 *
 * <p>The root object always exists. All methods throw a {@link StorageException} if the store fails.
 */
public interface ObjectReader {
    /** Returns an object; empty if it does not exist. */
    Optional<StoredObject> find(ObjectId object) throws StorageException;

    /** Returns the value of an attribute; no bytes if it is not set, or the object does not exist. */
    Bytes attribute(ObjectId object, AttributeId attribute) throws StorageException;

    /**
     * Passes the attributes of an object that are set, in the order of their identifiers, until the consumer returns
     * false.
     *
     * @param page attributes page, or {@link AttributeId#ALL_PAGES}
     */
    void attributes(ObjectId object, int page, Predicate<Attribute> consumer)
            throws StorageException;

    /**
     * Returns Partition_IDs.
     *
     * @param from smallest identifier, unsigned
     * @param max most identifiers
     */
    List<Long> partitions(long from, int max) throws StorageException;

    /** Returns the number of partitions. */
    long partitionCount() throws StorageException;

    /**
     * Returns identifiers of the objects of a type in a partition.
     *
     * @param type {@link ObjectType#COLLECTION} or {@link ObjectType#USER_OBJECT}
     * @param from smallest identifier, unsigned
     * @param max most identifiers
     */
    List<Long> objects(long partition, ObjectType type, long from, int max)
            throws StorageException;

    /** Returns the number of objects of a type in a partition; collections and user objects are counted apart. */
    long objectCount(long partition, ObjectType type) throws StorageException;

    /** Returns identifiers of the user objects in a collection, from the smallest that is not below {@code from}. */
    List<Long> members(ObjectId collection, long from, int max) throws StorageException;

    /** Returns the number of user objects in a collection. */
    long memberCount(ObjectId collection) throws StorageException;

    /** Returns identifiers of the collections that a user object is in. */
    List<Long> collectionsOf(ObjectId userObject) throws StorageException;

    /** Returns the bytes of data of all user objects in a partition, or those of all partitions for the partition 0. */
    long usedBytes(long partition) throws StorageException;

    /**
     * Returns the first of some consecutive identifiers that are free in a partition, at least {@link ObjectId#FIRST}.
     *
     * @param partition the partition for collections and user objects; 0 for identifiers of partitions
     */
    long freeIds(long partition, int count) throws StorageException;
}
