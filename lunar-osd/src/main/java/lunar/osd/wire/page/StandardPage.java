package lunar.osd.wire.page;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import lunar.osd.wire.attribute.AttributeId;

/** The pages that the OSD standard defines. */
public enum StandardPage {
    USER_OBJECT_DIRECTORY(0x0000_0000),
    USER_OBJECT_INFORMATION(0x0000_0001),
    USER_OBJECT_QUOTAS(0x0000_0002),
    USER_OBJECT_TIMESTAMPS(0x0000_0003),
    /** The collections that the user object belongs to. */
    USER_OBJECT_COLLECTIONS(0x0000_0004),
    USER_OBJECT_POLICY_SECURITY(0x0000_0005),
    USER_OBJECT_ERROR_RECOVERY(0x0000_0006),

    PARTITION_DIRECTORY(0x3000_0000),
    PARTITION_INFORMATION(0x3000_0001),
    PARTITION_QUOTAS(0x3000_0002),
    PARTITION_TIMESTAMPS(0x3000_0003),
    /** Lists of attributes that capabilities are limited to. */
    PARTITION_ATTRIBUTES_ACCESS(0x3000_0004),
    PARTITION_POLICY_SECURITY(0x3000_0005),
    PARTITION_ERROR_RECOVERY(0x3000_0006),

    COLLECTION_DIRECTORY(0x6000_0000),
    COLLECTION_INFORMATION(0x6000_0001),
    COLLECTION_TIMESTAMPS(0x6000_0003),
    /** Progress of a command for the members of a tracking collection. */
    COLLECTION_COMMAND_TRACKING(0x6000_0004),
    COLLECTION_POLICY_SECURITY(0x6000_0005),
    COLLECTION_ERROR_RECOVERY(0x6000_0006),

    ROOT_DIRECTORY(0x9000_0000),
    ROOT_INFORMATION(0x9000_0001),
    ROOT_QUOTAS(0x9000_0002),
    ROOT_TIMESTAMPS(0x9000_0003),
    ROOT_POLICY_SECURITY(0x9000_0005),
    ROOT_ERROR_RECOVERY(0x9000_0006),

    /** Results of the command that gets it; of every type of object, read only. */
    CURRENT_COMMAND(0xffff_fffe);

    private static final Map<Integer, StandardPage> BY_NUMBER = new HashMap<>();

    static {
        for (StandardPage page : values()) {
            BY_NUMBER.put(page.number, page);
        }
    }

    private final int number;

    StandardPage(int number) { this.number = number; }

    /** Number of the page, unsigned. */
    public int number() { return number; }

    /** The attribute of this page with a number, unsigned. */
    AttributeId attribute(int attribute) {
        return new AttributeId(number, attribute);
    }

    /**
     * One of several attributes in a row.
     *
     * @param first number of the first
     * @param index which, from 0 on
     * @param count how many there are
     */
    AttributeId attribute(int first, int index, int count) {
        return attribute(first + Objects.checkIndex(index, count));
    }

    /** The page of a number. */
    public static Optional<StandardPage> of(int number) {
        return Optional.ofNullable(BY_NUMBER.get(number));
    }
}
