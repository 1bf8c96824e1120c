package lunar.osd.target.security;

import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.StoredObject;
import lunar.osd.target.attribute.NonceLimit;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.CollectionAttribute;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.StandardPage;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;

/**
 * State of a command's object in the store, as far as it decides whether the command is admitted.
 *
 * @param object the object, if it exists
 * @param tag its policy access tag; for one that is not there, that of new user objects
 * @param secondTag policy access tag of the collection that the command uses besides its object, if there is one
 * @param partitionCreatedMs when its partition was created; 0 if it does not exist
 * @param method code of the method that the partition requires, if it says
 * @param frozenKeys bit n says that working key n is frozen
 * @param oldestMs how much older than the clock a nonce may be
 * @param newestMs how much newer than the clock a nonce may be
 * @param permitted attributes that the capability is limited to; empty for no limit
 */
record ObjectPolicy(Optional<StoredObject> object, long tag, OptionalLong secondTag,
        long partitionCreatedMs, OptionalInt method, int frozenKeys, long oldestMs,
        long newestMs, Optional<Set<AttributeId>> permitted) {
    private static final int ENTRY_LENGTH = 8;

    /**
     * Reads the policy of the object of a command.
     *
     * @param limits what a device without attributes has as the limits of nonces
     */
    static ObjectPolicy read(ObjectReader objects, SecuredRequest request, NonceLimits limits)
            throws StorageException {
        ObjectId id = request.command().object();
        long attributesAccess = request.command().common().capability().object()
                .attributesAccess();
        var partition = ObjectId.ofPartition(id.partition());
        Optional<StoredObject> found = objects.find(id);
        Bytes method = objects.attribute(partition,
                PartitionAttribute.DEFAULT_SECURITY_METHOD.id());
        Bytes frozen = objects.attribute(partition, PartitionAttribute.FROZEN_WORKING_KEYS.id());
        Optional<ObjectId> second = request.secondCollection();
        return new ObjectPolicy(found, tag(objects, found, id),
                second.isEmpty()
                        ? OptionalLong.empty()
                        : OptionalLong.of(tag(objects, objects.find(second.get()), second.get())),
                PartitionKeys.createdMs(objects, id.partition()),
                method.length() == 0 ? OptionalInt.empty() : OptionalInt.of(method.at(0)),
                (int) Values.number(frozen),
                NonceLimit.OLDEST.of(objects, partition, limits.oldestMs()),
                NonceLimit.NEWEST.of(objects, partition, limits.newestMs()),
                attributesAccess == 0
                        ? Optional.empty()
                        : Optional.of(permitted(objects.attribute(partition,
                                new AttributeId(StandardPage.PARTITION_ATTRIBUTES_ACCESS.number(),
                                        (int) attributesAccess)))));
    }

    /** Limits of nonces that no attribute says. */
    record NonceLimits(long oldestMs, long newestMs) {}

    private static long tag(ObjectReader objects, Optional<StoredObject> found, ObjectId id)
            throws StorageException {
        var partition = ObjectId.ofPartition(id.partition());
        ObjectType type = found.map(StoredObject::type).orElse(ObjectType.USER_OBJECT);
        return switch (type) {
            case ROOT -> 0;
            case PARTITION -> Values.number(
                    objects.attribute(id, PartitionAttribute.POLICY_ACCESS_TAG.id()));
            case COLLECTION -> Values.number(
                    objects.attribute(id, CollectionAttribute.POLICY_ACCESS_TAG.id()));
            case USER_OBJECT -> {
                Bytes own = objects.attribute(id, UserObjectAttribute.POLICY_ACCESS_TAG.id());
                yield Values.number(own.length() > 0
                        ? own
                        : objects.attribute(partition,
                                PartitionAttribute.USER_OBJECT_POLICY_ACCESS_TAG.id()));
            }
        };
    }

    /** Reads a list of pages and numbers; bytes behind the last entry are ignored. */
    private static Set<AttributeId> permitted(Bytes list) {
        var ids = new HashSet<AttributeId>();
        for (int at = 0; at + ENTRY_LENGTH <= list.length(); at += ENTRY_LENGTH) {
            ids.add(new AttributeId((int) BigEndian.int32(list.segment(), at),
                    (int) BigEndian.int32(list.segment(), at + ENTRY_LENGTH / 2)));
        }
        return ids;
    }
}
