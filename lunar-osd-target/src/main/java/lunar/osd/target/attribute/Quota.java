package lunar.osd.target.attribute;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.PageKind;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.StandardAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.Bytes;

/**
 * Quotas. A quota that is not set is that of the level above: a user object's is its partition's, a partition's is the
 * root's. Without any there is no limit, which the largest number says.
 */
public enum Quota {
    /** Bytes of data of a user object. */
    OBJECT_LENGTH(8, UserObjectAttribute.MAX_LENGTH,
            PartitionAttribute.DEFAULT_MAX_USER_OBJECT_LENGTH,
            RootAttribute.DEFAULT_MAX_USER_OBJECT_LENGTH),
    /** Bytes of data of all user objects of a partition. */
    PARTITION_CAPACITY(8, PartitionAttribute.CAPACITY_QUOTA,
            RootAttribute.PARTITION_CAPACITY_QUOTA),
    /** Collections and user objects of a partition. */
    OBJECT_COUNT(8, PartitionAttribute.OBJECT_COUNT_QUOTA, RootAttribute.PARTITION_OBJECT_COUNT),
    /** Collections that a user object is in. */
    COLLECTIONS_PER_OBJECT(4, PartitionAttribute.COLLECTIONS_PER_USER_OBJECT,
            RootAttribute.PARTITION_COLLECTIONS_PER_USER_OBJECT),
    /** Partitions. */
    PARTITION_COUNT(8, RootAttribute.PARTITION_COUNT_QUOTA);

    /** Capacity that FORMAT OSD was given, where the device is not to use the whole medium: 8 bytes. */
    public static final AttributeId FORMATTED_CAPACITY = new AttributeId(0x9000_f000, 1);

    /** A limit, and the attribute that sets it; an unsigned number. */
    public record Limit(long value, AttributeId attribute) {
        /** Whether a number is beyond the limit. */
        public boolean isExceeded(long number) {
            return Long.compareUnsigned(number, value) > 0;
        }

        /** Refuses a number beyond the limit. */
        public void check(long number) throws RefusedException {
            if (isExceeded(number)) {
                throw RefusedException.quota(attribute);
            }
        }
    }

    private final int length;
    @SuppressWarnings("ImmutableEnumChecker") // made by toList
    private final List<AttributeId> levels;

    /** @param levels its attributes, from that of the smallest objects to the root's */
    Quota(int length, StandardAttribute... levels) {
        this.length = length;
        this.levels = Arrays.stream(levels).map(StandardAttribute::id).toList();
    }

    /** Bytes of the value. */
    int length() { return length; }

    /** Returns its attribute of a type of object. */
    Optional<AttributeId> of(ObjectType type) {
        return levels.stream().filter(id -> PageKind.objectType(id.page())
                .filter(type::equals).isPresent()).findFirst();
    }

    /** Returns the limit that applies to an object. */
    public Limit limit(ObjectReader objects, ObjectId object) throws StorageException {
        for (AttributeId id : levels) {
            ObjectId level = level(id, object);
            Bytes value = objects.attribute(level, id);
            if (value.length() > 0) {
                return new Limit(Values.number(value), id);
            }
        }
        return new Limit(none(), levels.getLast());
    }

    /** The number that says that there is no limit. */
    private long none() {
        return length == Long.BYTES ? -1 : (1L << (Byte.SIZE * length)) - 1;
    }

    /** The object at the level of an attribute that contains an object, or is it. */
    private static ObjectId level(AttributeId id, ObjectId object) {
        return switch (PageKind.objectType(id.page())
                .orElse(ObjectType.ROOT)) {
            case USER_OBJECT, COLLECTION -> object;
            case PARTITION -> ObjectId.ofPartition(object.partition());
            case ROOT -> ObjectId.ROOT;
        };
    }

    /** Returns the value of the attribute of a type of object: what applies to it. */
    Bytes value(AttributeScope scope, AttributeId id) throws StorageException {
        for (AttributeId level : levels.subList(levels.indexOf(id), levels.size())) {
            Bytes value = scope.objects().attribute(level(level, scope.id()), level);
            if (value.length() > 0) {
                return value;
            }
        }
        return Values.number(none(), length);
    }

    /** Returns the limit of all data, which FORMAT OSD has set. */
    public static Limit formattedCapacity(ObjectReader objects) throws StorageException {
        Bytes value = objects.attribute(ObjectId.ROOT, FORMATTED_CAPACITY);
        return new Limit(value.length() == 0 ? -1 : Values.number(value),
                RootAttribute.TOTAL_CAPACITY.id());
    }

    /** Returns the number of collections and user objects of a partition. */
    public static long objectCount(ObjectReader objects, long partition) throws StorageException {
        return objects.objectCount(partition, ObjectType.USER_OBJECT)
                + objects.objectCount(partition, ObjectType.COLLECTION);
    }
}
