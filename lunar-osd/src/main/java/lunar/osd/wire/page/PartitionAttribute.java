package lunar.osd.wire.page;

import java.util.OptionalInt;
import lunar.osd.wire.attribute.AttributeId;

/** Attributes of partitions. */
public enum PartitionAttribute implements StandardAttribute {
    PARTITION_ID(StandardPage.PARTITION_INFORMATION, 0x1, 8),
    /** Settable. */
    USERNAME(StandardPage.PARTITION_INFORMATION, 0x9, VARIES),
    /** Bytes. */
    USED_CAPACITY(StandardPage.PARTITION_INFORMATION, 0x81, 8),
    ACCESSIBILITY(StandardPage.PARTITION_INFORMATION, 0x83, 4),
    USED_CAPACITY_INCREMENT(StandardPage.PARTITION_INFORMATION, 0x84, 8),
    /** Collections and user objects. */
    OBJECT_COUNT(StandardPage.PARTITION_INFORMATION, 0xc1, 8),
    ACTUAL_DATA_SPACE(StandardPage.PARTITION_INFORMATION, 0xd1, 8),
    RESERVED_DATA_SPACE(StandardPage.PARTITION_INFORMATION, 0xd2, 8),
    DEFAULT_SNAPSHOT_METHOD(StandardPage.PARTITION_INFORMATION, 0x200, 4),
    DEFAULT_CLONE_METHOD(StandardPage.PARTITION_INFORMATION, 0x201, 4),
    DEFAULT_SNAPSHOT_TIME_OF_DUPLICATION(StandardPage.PARTITION_INFORMATION, 0x300, 4),
    DEFAULT_CLONE_TIME_OF_DUPLICATION(StandardPage.PARTITION_INFORMATION, 0x301, 4),

    DEFAULT_MAX_USER_OBJECT_LENGTH(StandardPage.PARTITION_QUOTAS, 0x1, 8),
    CAPACITY_QUOTA(StandardPage.PARTITION_QUOTAS, 0x10001, 8),
    OBJECT_COUNT_QUOTA(StandardPage.PARTITION_QUOTAS, 0x10002, 8),
    COLLECTIONS_PER_USER_OBJECT(StandardPage.PARTITION_QUOTAS, 0x10081, 4),

    CREATED(StandardPage.PARTITION_TIMESTAMPS, 0x1, 6),
    ATTRIBUTES_ACCESSED(StandardPage.PARTITION_TIMESTAMPS, 0x2, 6),
    ATTRIBUTES_MODIFIED(StandardPage.PARTITION_TIMESTAMPS, 0x3, 6),
    DATA_ACCESSED(StandardPage.PARTITION_TIMESTAMPS, 0x4, 6),
    DATA_MODIFIED(StandardPage.PARTITION_TIMESTAMPS, 0x5, 6),
    TIMESTAMP_BYPASS(StandardPage.PARTITION_TIMESTAMPS, 0xfffffffe, 1),

    DEFAULT_SECURITY_METHOD(StandardPage.PARTITION_POLICY_SECURITY, 0x1, 1),
    OLDEST_VALID_NONCE(StandardPage.PARTITION_POLICY_SECURITY, 0x2, 6),
    NEWEST_VALID_NONCE(StandardPage.PARTITION_POLICY_SECURITY, 0x3, 6),
    REQUEST_NONCE_LIST_DEPTH(StandardPage.PARTITION_POLICY_SECURITY, 0x4, 2),
    /** Bit n says that working key n is frozen. */
    FROZEN_WORKING_KEYS(StandardPage.PARTITION_POLICY_SECURITY, 0x5, 2),
    PARTITION_KEY_ID(StandardPage.PARTITION_POLICY_SECURITY, 0x7fff, 7),
    POLICY_ACCESS_TAG(StandardPage.PARTITION_POLICY_SECURITY, 0x40000001, 4),
    USER_OBJECT_POLICY_ACCESS_TAG(StandardPage.PARTITION_POLICY_SECURITY, 0x40000002, 4),

    DAMAGE_SUMMARY(StandardPage.PARTITION_ERROR_RECOVERY, 0x1, 1),
    CONTAINED_DAMAGE_SUMMARY(StandardPage.PARTITION_ERROR_RECOVERY, 0x2, 1),
    LAST_DAMAGED_DATA_TIME(StandardPage.PARTITION_ERROR_RECOVERY, 0x3, 6),
    LAST_DAMAGED_ATTRIBUTES_TIME(StandardPage.PARTITION_ERROR_RECOVERY, 0x4, 6),
    LAST_CONTAINED_DAMAGE_TIME(StandardPage.PARTITION_ERROR_RECOVERY, 0x5, 6),
    DAMAGED_OBJECT_COUNT(StandardPage.PARTITION_ERROR_RECOVERY, 0x6, VARIES);

    /** Number of working keys of a partition. */
    public static final int WORKING_KEYS = 16;

    private final int page;
    private final int number;
    private final int length;

    PartitionAttribute(StandardPage page, int number, int length) {
        this.page = page.number();
        this.number = number;
        this.length = length;
    }

    /** Identifier of a working key, 0 to Fh; 7 bytes. */
    public static AttributeId workingKeyId(int key) {
        return StandardPage.PARTITION_POLICY_SECURITY.attribute(0x8000, key, WORKING_KEYS);
    }

    @Override
    public AttributeId id() { return new AttributeId(page, number); }

    @Override
    public OptionalInt length() { return StandardAttribute.known(length); }
}
