package lunar.osd.target.attribute;

import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.scsi.Bytes;

/**
 * Limits of how far the time of a request nonce may be from the clock of the device. A partition that has none of its
 * own has those of the root. The limits have bounds of their own: one of zero would admit no command, not even one that
 * changes it, and one of years would admit nonces in the future, behind which a device that starts again refuses all.
 */
public enum NonceLimit {
    /** How much older than the clock a nonce may be: from a second to a day. */
    OLDEST(PartitionAttribute.OLDEST_VALID_NONCE, RootAttribute.OLDEST_VALID_NONCE_LIMIT,
            86_400_000),
    /** How much newer than the clock a nonce may be: from a second to ten minutes. */
    NEWEST(PartitionAttribute.NEWEST_VALID_NONCE, RootAttribute.NEWEST_VALID_NONCE_LIMIT,
            600_000);

    private static final int LENGTH = 6;
    private static final long LEAST_MS = 1000;

    private final PartitionAttribute ofPartition;
    private final RootAttribute ofRoot;
    private final long mostMs;

    NonceLimit(PartitionAttribute ofPartition, RootAttribute ofRoot, long mostMs) {
        this.ofPartition = ofPartition;
        this.ofRoot = ofRoot;
        this.mostMs = mostMs;
    }

    PartitionAttribute ofPartition() { return ofPartition; }

    RootAttribute ofRoot() { return ofRoot; }

    /** Returns the rule by which its attributes are set. */
    SetRule rule() {
        return SetRule.number(LENGTH, LEAST_MS, mostMs);
    }

    /**
     * Returns the limit for commands of a partition, within the bounds even if another one was stored.
     *
     * @param partition the partition, or the root
     * @param otherwise limit in milliseconds if no attribute has one
     */
    public long of(ObjectReader objects, ObjectId partition, long otherwise)
            throws StorageException {
        Bytes set = partition.isRoot()
                ? Bytes.EMPTY
                : objects.attribute(partition, ofPartition.id());
        if (set.length() == 0) {
            set = objects.attribute(ObjectId.ROOT, ofRoot.id());
        }
        return set.length() == 0
                ? otherwise
                : Math.clamp(Values.number(set), LEAST_MS, mostMs);
    }
}
