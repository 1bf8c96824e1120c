package lunar.osd.wire.page;

import java.util.OptionalInt;
import lunar.osd.wire.attribute.AttributeId;

/** Attributes of the root object. */
public enum RootAttribute implements StandardAttribute {
    /** Identifies the OSD; settable by FORMAT OSD. */
    SYSTEM_ID(StandardPage.ROOT_INFORMATION, 0x3, 20),
    VENDOR(StandardPage.ROOT_INFORMATION, 0x4, 8),
    PRODUCT(StandardPage.ROOT_INFORMATION, 0x5, 16),
    MODEL(StandardPage.ROOT_INFORMATION, 0x6, 32),
    REVISION(StandardPage.ROOT_INFORMATION, 0x7, 4),
    SERIAL_NUMBER(StandardPage.ROOT_INFORMATION, 0x8, VARIES),
    /** Settable. */
    OSD_NAME(StandardPage.ROOT_INFORMATION, 0x9, VARIES),
    MAX_CDB_CONTINUATION_LENGTH(StandardPage.ROOT_INFORMATION, 0xa, 4),
    /** Bytes. */
    TOTAL_CAPACITY(StandardPage.ROOT_INFORMATION, 0x80, 8),
    /** Bytes. */
    USED_CAPACITY(StandardPage.ROOT_INFORMATION, 0x81, 8),
    ACCESSIBILITY(StandardPage.ROOT_INFORMATION, 0x83, 4),
    PARTITION_COUNT(StandardPage.ROOT_INFORMATION, 0xc0, 8),
    /** Milliseconds since 1970. */
    CLOCK(StandardPage.ROOT_INFORMATION, 0x100, 6),
    DEFAULT_ISOLATION(StandardPage.ROOT_INFORMATION, 0x110, 1),
    /** Bit map; the most significant bit of the first byte is isolation code 0. */
    SUPPORTED_ISOLATION(StandardPage.ROOT_INFORMATION, 0x111, 32),
    DATA_ATOMICITY_GUARANTEE(StandardPage.ROOT_INFORMATION, 0x120, 8),
    DATA_ATOMICITY_ALIGNMENT(StandardPage.ROOT_INFORMATION, 0x121, 8),
    ATTRIBUTES_ATOMICITY_GUARANTEE(StandardPage.ROOT_INFORMATION, 0x122, 8),
    ATTRIBUTES_ATOMICITY_MULTIPLIER(StandardPage.ROOT_INFORMATION, 0x123, 1),
    MAX_SNAPSHOTS(StandardPage.ROOT_INFORMATION, 0x1c1, 4),
    MAX_CLONES(StandardPage.ROOT_INFORMATION, 0x1c2, 4),
    MAX_BRANCH_DEPTH(StandardPage.ROOT_INFORMATION, 0x1cc, 4),
    OBJECT_DUPLICATION_FREEZE(StandardPage.ROOT_INFORMATION, 0x310, 4),
    SNAPSHOT_REFRESH(StandardPage.ROOT_INFORMATION, 0x311, 1),

    DEFAULT_MAX_USER_OBJECT_LENGTH(StandardPage.ROOT_QUOTAS, 0x1, 8),
    PARTITION_CAPACITY_QUOTA(StandardPage.ROOT_QUOTAS, 0x10001, 8),
    PARTITION_OBJECT_COUNT(StandardPage.ROOT_QUOTAS, 0x10002, 8),
    PARTITION_COLLECTIONS_PER_USER_OBJECT(StandardPage.ROOT_QUOTAS, 0x10081, 4),
    PARTITION_COUNT_QUOTA(StandardPage.ROOT_QUOTAS, 0x20002, 8),

    ATTRIBUTES_ACCESSED(StandardPage.ROOT_TIMESTAMPS, 0x2, 6),
    ATTRIBUTES_MODIFIED(StandardPage.ROOT_TIMESTAMPS, 0x3, 6),
    TIMESTAMP_BYPASS(StandardPage.ROOT_TIMESTAMPS, 0xfffffffe, 1),

    DEFAULT_SECURITY_METHOD(StandardPage.ROOT_POLICY_SECURITY, 0x1, 1),
    OLDEST_VALID_NONCE_LIMIT(StandardPage.ROOT_POLICY_SECURITY, 0x2, 6),
    NEWEST_VALID_NONCE_LIMIT(StandardPage.ROOT_POLICY_SECURITY, 0x3, 6),
    PARTITION_DEFAULT_SECURITY_METHOD(StandardPage.ROOT_POLICY_SECURITY, 0x6, 1),
    /** Bits: 1h NOSEC, 2h CAPKEY, 4h CMDRSP, 8h ALLDATA. */
    SUPPORTED_SECURITY_METHODS(StandardPage.ROOT_POLICY_SECURITY, 0x7, 2),
    ADJUSTABLE_CLOCK(StandardPage.ROOT_POLICY_SECURITY, 0x9, 6),
    BOOT_EPOCH(StandardPage.ROOT_POLICY_SECURITY, 0xa, 2),
    MASTER_KEY_ID(StandardPage.ROOT_POLICY_SECURITY, 0x7ffd, 7),
    ROOT_KEY_ID(StandardPage.ROOT_POLICY_SECURITY, 0x7ffe, 7),

    DAMAGE_SUMMARY(StandardPage.ROOT_ERROR_RECOVERY, 0x1, 1),
    CONTAINED_DAMAGE_SUMMARY(StandardPage.ROOT_ERROR_RECOVERY, 0x2, 1),
    LAST_DAMAGED_DATA_TIME(StandardPage.ROOT_ERROR_RECOVERY, 0x3, 6),
    LAST_DAMAGED_ATTRIBUTES_TIME(StandardPage.ROOT_ERROR_RECOVERY, 0x4, 6),
    LAST_CONTAINED_DAMAGE_TIME(StandardPage.ROOT_ERROR_RECOVERY, 0x5, 6),
    DAMAGED_OBJECT_COUNT(StandardPage.ROOT_ERROR_RECOVERY, 0x6, VARIES);

    private final int page;
    private final int number;
    private final int length;

    RootAttribute(StandardPage page, int number, int length) {
        this.page = page.number();
        this.number = number;
        this.length = length;
    }

    /** Whether an object duplication method, 0 to FFh, is supported. */
    public static AttributeId duplicationMethod(int method) {
        return StandardPage.ROOT_INFORMATION.attribute(0x200, method, 0x100);
    }

    /** Whether a time of duplication method, 0 to Fh, is supported. */
    public static AttributeId timeOfDuplication(int method) {
        return StandardPage.ROOT_INFORMATION.attribute(0x300, method, 0x10);
    }

    /** Whether a type of CDB continuation descriptors, 1h to FFFFh, is supported; 4 bytes. */
    public static AttributeId continuationDescriptor(int type) {
        return StandardPage.ROOT_INFORMATION.attribute(0x7000000, type, 0x10000);
    }

    /** An integrity check value algorithm, 0 to Fh; 1 byte. */
    public static AttributeId integrityAlgorithm(int index) {
        return StandardPage.ROOT_POLICY_SECURITY.attribute(0x80000000, index, 0x10);
    }

    /** A Diffie-Hellman group, 0 to Fh; 1 byte. */
    public static AttributeId diffieHellmanGroup(int index) {
        return StandardPage.ROOT_POLICY_SECURITY.attribute(0x80000010, index, 0x10);
    }

    @Override
    public AttributeId id() { return new AttributeId(page, number); }

    @Override
    public OptionalInt length() { return StandardAttribute.known(length); }
}
