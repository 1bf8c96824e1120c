package lunar.osd.wire.page;

import java.util.OptionalInt;
import lunar.osd.wire.attribute.AttributeId;

/** Attributes of user objects. */
public enum UserObjectAttribute implements StandardAttribute {
    PARTITION_ID(StandardPage.USER_OBJECT_INFORMATION, 0x1, 8),
    USER_OBJECT_ID(StandardPage.USER_OBJECT_INFORMATION, 0x2, 8),
    /** Settable. */
    USERNAME(StandardPage.USER_OBJECT_INFORMATION, 0x9, VARIES),
    /** Bytes. */
    USED_CAPACITY(StandardPage.USER_OBJECT_INFORMATION, 0x81, 8),
    /** Bytes; setting it truncates or extends the object. */
    LOGICAL_LENGTH(StandardPage.USER_OBJECT_INFORMATION, 0x82, 8),
    ACCESSIBILITY(StandardPage.USER_OBJECT_INFORMATION, 0x83, 4),
    ACTUAL_DATA_SPACE(StandardPage.USER_OBJECT_INFORMATION, 0xd1, 8),
    RESERVED_DATA_SPACE(StandardPage.USER_OBJECT_INFORMATION, 0xd2, 8),

    MAX_LENGTH(StandardPage.USER_OBJECT_QUOTAS, 0x1, 8),

    CREATED(StandardPage.USER_OBJECT_TIMESTAMPS, 0x1, 6),
    ATTRIBUTES_ACCESSED(StandardPage.USER_OBJECT_TIMESTAMPS, 0x2, 6),
    ATTRIBUTES_MODIFIED(StandardPage.USER_OBJECT_TIMESTAMPS, 0x3, 6),
    DATA_ACCESSED(StandardPage.USER_OBJECT_TIMESTAMPS, 0x4, 6),
    DATA_MODIFIED(StandardPage.USER_OBJECT_TIMESTAMPS, 0x5, 6),

    POLICY_ACCESS_TAG(StandardPage.USER_OBJECT_POLICY_SECURITY, 0x40000001, 4),

    DAMAGE_SUMMARY(StandardPage.USER_OBJECT_ERROR_RECOVERY, 0x1, 1),
    LAST_DAMAGED_DATA_TIME(StandardPage.USER_OBJECT_ERROR_RECOVERY, 0x3, 6),
    LAST_DAMAGED_ATTRIBUTES_TIME(StandardPage.USER_OBJECT_ERROR_RECOVERY, 0x4, 6);

    /** Last number of {@link #collection}. */
    public static final int LAST_COLLECTION = 0xffff_ff00;

    private final int page;
    private final int number;
    private final int length;

    UserObjectAttribute(StandardPage page, int number, int length) {
        this.page = page.number();
        this.number = number;
        this.length = length;
    }

    /**
     * A collection that the user object belongs to: the Collection_Object_ID, 8 bytes. Setting it adds the object to
     * the collection, deleting it removes the object.
     *
     * @param number 1 to {@link #LAST_COLLECTION}, unsigned
     */
    public static AttributeId collection(int number) {
        if (number == 0 || Integer.compareUnsigned(number, LAST_COLLECTION) > 0) {
            throw new IllegalArgumentException(
                    "collection number " + Integer.toUnsignedString(number));
        }
        return StandardPage.USER_OBJECT_COLLECTIONS.attribute(number);
    }

    @Override
    public AttributeId id() { return new AttributeId(page, number); }

    @Override
    public OptionalInt length() { return StandardAttribute.known(length); }
}
