package lunar.osd.target.security;

import lunar.block.StorageException;
import lunar.osd.security.InitialSeeds;
import lunar.osd.security.SecretKey;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectWriter;
import lunar.osd.target.attribute.ReadCache;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.KeyLevel;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.scsi.Bytes;

/**
 * The secret keys: the master key, the root key, and those of partitions. Keys that SET KEY has set are secret
 * attributes of the root and of partitions; all others follow from the key above them. Keys are cached until one
 * changes. Thread-safe.
 */
final class KeyHierarchy {
    private static final int MAX_CACHED = 4096;

    private final ObjectStore store;
    private final SecretKey master;
    private final ReadCache<Long, PartitionKeys> partitions;

    KeyHierarchy(ObjectStore store, SecretKey master) {
        this.store = store;
        this.master = master;
        partitions = new ReadCache<>(MAX_CACHED,
                partition -> store.<PartitionKeys, RuntimeException>query(
                        objects -> of(objects, partition)));
    }

    SecretKey master() { return master; }

    /** Returns the root key. */
    NamedKey root(ObjectReader objects) throws StorageException {
        return NamedKey.below(master, objects, ObjectId.ROOT, SecretAttribute.ROOT_KEY,
                InitialSeeds.ofRoot());
    }

    /** Returns the root key; not within a query or a change. */
    NamedKey root() throws StorageException {
        return store.<NamedKey, RuntimeException>query(this::root);
    }

    /** Returns the keys of a partition. */
    PartitionKeys of(ObjectReader objects, long partition) throws StorageException {
        return PartitionKeys.read(objects, root(objects).key(), partition);
    }

    /** Returns the keys of a partition, perhaps from the cache; not within a query or a change. */
    PartitionKeys of(long partition) throws StorageException {
        return partitions.of(partition);
    }

    /** Sets a key, which takes effect with the change, and invalidates all below. A working key is not frozen then. */
    void set(ObjectWriter objects, SetKeyCommand command) throws StorageException {
        var object = ObjectId.ofPartition(command.partition());
        SecretKey above = switch (command.level()) {
            case ROOT -> master;
            case PARTITION -> root(objects).key();
            case WORKING -> of(objects, command.partition()).partition().key();
        };
        var attribute = switch (command.level()) {
            case ROOT -> SecretAttribute.ROOT_KEY;
            case PARTITION -> SecretAttribute.PARTITION_KEY;
            case WORKING -> SecretAttribute.workingKey(command.keyVersion());
        };
        objects.setAttribute(object, attribute, new SetKey(above.derive(command.seed()),
                command.keyId(), SetKey.fingerprint(above)).encode());
        if (command.level() == KeyLevel.WORKING) {
            thaw(objects, object, command.keyVersion());
        }
    }

    /** Takes a working key out of the frozen ones: where all are frozen, no command can set the attribute. */
    private static void thaw(ObjectWriter objects, ObjectId partition, int version)
            throws StorageException {
        AttributeId id = PartitionAttribute.FROZEN_WORKING_KEYS.id();
        Bytes frozen = objects.attribute(partition, id);
        long left = Values.number(frozen) & ~(1L << version);
        if (left != Values.number(frozen)) {
            objects.setAttribute(partition, id, Values.number(left, frozen.length()));
        }
    }

    /** Called after keys or partitions may have changed. */
    void changed() { partitions.clear(); }
}
