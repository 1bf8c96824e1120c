package lunar.osd.target.security;

import java.util.ArrayList;
import java.util.List;
import lunar.block.StorageException;
import lunar.osd.security.InitialSeeds;
import lunar.osd.security.SecretKey;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.StoredObject;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.page.PartitionAttribute;

/**
 * The keys of a partition.
 *
 * @param createdMs when the partition was created, in milliseconds since 1970 UTC
 * @param partition its key
 * @param working its 16 working keys
 */
record PartitionKeys(long createdMs, NamedKey partition, List<NamedKey> working) {
    PartitionKeys {
        working = List.copyOf(working);
    }

    /** Returns the keys of a partition, which need not exist. */
    static PartitionKeys read(ObjectReader objects, SecretKey root, long id)
            throws StorageException {
        var object = ObjectId.ofPartition(id);
        long created = createdMs(objects, id);
        NamedKey partition = NamedKey.below(root, objects, object, SecretAttribute.PARTITION_KEY,
                InitialSeeds.ofPartition(id, created));
        var working = new ArrayList<NamedKey>();
        for (int i = 0; i < PartitionAttribute.WORKING_KEYS; i++) {
            working.add(NamedKey.below(partition.key(), objects, object,
                    SecretAttribute.workingKey(i), InitialSeeds.ofWorkingKey(id, created, i)));
        }
        return new PartitionKeys(created, partition, working);
    }

    /** Returns when a partition was created; 0 if it does not exist. */
    static long createdMs(ObjectReader objects, long id) throws StorageException {
        StoredObject found = objects.find(ObjectId.ofPartition(id)).orElse(null);
        return found == null ? 0 : found.time(Timestamp.CREATED);
    }
}
