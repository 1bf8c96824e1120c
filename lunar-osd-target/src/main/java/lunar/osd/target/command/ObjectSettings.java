package lunar.osd.target.command;

import lunar.block.StorageException;
import lunar.osd.store.Growth;
import lunar.osd.store.ObjectReader;
import lunar.osd.target.attribute.Quota;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;

/**
 * Attributes that decide about commands for an object: the quotas of its data, and whether its timestamps stay.
 *
 * @param length most bytes of data
 * @param partition most bytes of data of its partition
 * @param device most bytes of all data
 * @param bypass whether timestamps are not updated
 */
record ObjectSettings(Quota.Limit length, Quota.Limit partition, Quota.Limit device,
        boolean bypass) implements Growth<RefusedException> {
    static ObjectSettings of(ObjectReader objects, ObjectId object) throws StorageException {
        var bypass = object.isRoot()
                ? objects.attribute(ObjectId.ROOT, RootAttribute.TIMESTAMP_BYPASS.id())
                : objects.attribute(ObjectId.ofPartition(object.partition()),
                        PartitionAttribute.TIMESTAMP_BYPASS.id());
        return new ObjectSettings(Quota.OBJECT_LENGTH.limit(objects, object),
                Quota.PARTITION_CAPACITY.limit(objects, object),
                Quota.formattedCapacity(objects), Values.number(bypass) != 0);
    }

    @Override
    public void check(ObjectId object, long newLength, long usedByPartition, long used)
            throws RefusedException {
        length.check(newLength);
        partition.check(usedByPartition);
        device.check(used);
    }
}
