package lunar.osd.wire.page;

import java.util.OptionalInt;
import lunar.osd.wire.attribute.AttributeId;

/** Attributes of collections. */
public enum CollectionAttribute implements StandardAttribute {
    PARTITION_ID(StandardPage.COLLECTION_INFORMATION, 0x1, 8),
    COLLECTION_ID(StandardPage.COLLECTION_INFORMATION, 0x2, 8),
    /** Settable. */
    USERNAME(StandardPage.COLLECTION_INFORMATION, 0x9, VARIES),
    /** 00h linked, 01h tracking, EFh spontaneous. */
    COLLECTION_TYPE(StandardPage.COLLECTION_INFORMATION, 0xa, 1),
    /** Bytes. */
    USED_CAPACITY(StandardPage.COLLECTION_INFORMATION, 0x81, 8),
    ACCESSIBILITY(StandardPage.COLLECTION_INFORMATION, 0x83, 4),

    CREATED(StandardPage.COLLECTION_TIMESTAMPS, 0x1, 6),
    ATTRIBUTES_ACCESSED(StandardPage.COLLECTION_TIMESTAMPS, 0x2, 6),
    ATTRIBUTES_MODIFIED(StandardPage.COLLECTION_TIMESTAMPS, 0x3, 6),
    DATA_ACCESSED(StandardPage.COLLECTION_TIMESTAMPS, 0x4, 6),
    DATA_MODIFIED(StandardPage.COLLECTION_TIMESTAMPS, 0x5, 6),

    PERCENT_COMPLETE(StandardPage.COLLECTION_COMMAND_TRACKING, 0x1, VARIES),
    ACTIVE_COMMAND_STATUS(StandardPage.COLLECTION_COMMAND_TRACKING, 0x2, 2),
    ENDED_COMMAND_STATUS(StandardPage.COLLECTION_COMMAND_TRACKING, 0x3,
            VARIES),
    SENSE_DATA(StandardPage.COLLECTION_COMMAND_TRACKING, 0x4, VARIES),
    /** When the command started. */
    NUMBER_OF_MEMBERS(StandardPage.COLLECTION_COMMAND_TRACKING, 0x10, VARIES),
    OBJECTS_PROCESSED(StandardPage.COLLECTION_COMMAND_TRACKING, 0x11, VARIES),
    NEWER_OBJECTS_SKIPPED(StandardPage.COLLECTION_COMMAND_TRACKING, 0x12,
            VARIES),
    MISSING_OBJECTS_SKIPPED(StandardPage.COLLECTION_COMMAND_TRACKING, 0x13,
            VARIES),

    POLICY_ACCESS_TAG(StandardPage.COLLECTION_POLICY_SECURITY, 0x40000001, 4),

    DAMAGE_SUMMARY(StandardPage.COLLECTION_ERROR_RECOVERY, 0x1, 1),
    LAST_DAMAGED_DATA_TIME(StandardPage.COLLECTION_ERROR_RECOVERY, 0x3, 6),
    LAST_DAMAGED_ATTRIBUTES_TIME(StandardPage.COLLECTION_ERROR_RECOVERY, 0x4, 6);

    private final int page;
    private final int number;
    private final int length;

    CollectionAttribute(StandardPage page, int number, int length) {
        this.page = page.number();
        this.number = number;
        this.length = length;
    }

    @Override
    public AttributeId id() { return new AttributeId(page, number); }

    @Override
    public OptionalInt length() { return StandardAttribute.known(length); }
}
