package lunar.osd.wire.page;

import java.util.OptionalInt;
import lunar.osd.wire.attribute.AttributeId;

/** Attributes of the current command: results of the command that gets them; read only. */
public enum CurrentCommandAttribute implements StandardAttribute {
    /** 20 bytes in OSD-1, 32 in OSD-2. */
    RESPONSE_INTEGRITY_CHECK_VALUE(StandardPage.CURRENT_COMMAND, 0x1,
            VARIES),
    OBJECT_TYPE(StandardPage.CURRENT_COMMAND, 0x2, 1),
    PARTITION_ID(StandardPage.CURRENT_COMMAND, 0x3, 8),
    /** After CREATE of several objects, the highest one. */
    OBJECT_ID(StandardPage.CURRENT_COMMAND, 0x4, 8),
    APPEND_STARTING_BYTE_ADDRESS(StandardPage.CURRENT_COMMAND, 0x5, 8),
    /** Bytes; OSD-2. */
    CHANGE_IN_USED_CAPACITY(StandardPage.CURRENT_COMMAND, 0x6, 8);

    private final int page;
    private final int number;
    private final int length;

    CurrentCommandAttribute(StandardPage page, int number, int length) {
        this.page = page.number();
        this.number = number;
        this.length = length;
    }

    @Override
    public AttributeId id() { return new AttributeId(page, number); }

    @Override
    public OptionalInt length() { return StandardAttribute.known(length); }
}
