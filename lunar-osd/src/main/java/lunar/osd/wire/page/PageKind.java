package lunar.osd.wire.page;

import java.util.Optional;
import lunar.osd.wire.ObjectType;

/** Kinds of attribute pages, by their numbers. Each type of object has a range of 30000000h pages. */
public enum PageKind {
    /** Defined by the OSD standard: 0h to 7Fh of the range. */
    STANDARD,
    /** Defined by other standards: 8000h to EFFFh of the range. */
    OTHER_STANDARD,
    /** Published by the manufacturer: F000h to FFFFh of the range. */
    MANUFACTURER,
    /** For applications and the logical unit: 10000h to 1FFFFFFFh of the range. */
    APPLICATION,
    /** Vendor specific: 20000000h to 2FFFFFFFh of the range. */
    VENDOR,
    /** For any type of object: F0000000h to FFFFFFFDh. */
    ANY_OBJECT,
    /** Attributes of the current command: FFFFFFFEh. */
    CURRENT_COMMAND,
    /** All pages, in requests: FFFFFFFFh. */
    ALL,
    RESERVED;

    private static final int RANGE = 0x3000_0000;
    private static final ObjectType[] RANGES = {ObjectType.USER_OBJECT, ObjectType.PARTITION,
            ObjectType.COLLECTION, ObjectType.ROOT};

    private static final long FIRST_ANY_OBJECT = 0xf000_0000L;
    private static final long CURRENT_COMMAND_PAGE = 0xffff_fffeL;
    private static final long ALL_PAGES = 0xffff_ffffL;

    /** The kind of a page. */
    public static PageKind of(int page) {
        long number = Integer.toUnsignedLong(page);
        if (number == ALL_PAGES) {
            return ALL;
        }
        if (number == CURRENT_COMMAND_PAGE) {
            return CURRENT_COMMAND;
        }
        if (number >= FIRST_ANY_OBJECT) {
            return ANY_OBJECT;
        }
        return objectType(page).isPresent() ? within(number % RANGE) : RESERVED;
    }

    private static PageKind within(long offset) {
        if (offset >= 0x2000_0000) {
            return VENDOR;
        }
        if (offset >= 0x1_0000) {
            return APPLICATION;
        }
        if (offset >= 0xf000) {
            return MANUFACTURER;
        }
        if (offset >= 0x8000) {
            return OTHER_STANDARD;
        }
        return offset < 0x80 ? STANDARD : RESERVED;
    }

    /** The type of object whose range has a page; empty for pages of no type of object. */
    public static Optional<ObjectType> objectType(int page) {
        int range = Integer.divideUnsigned(page, RANGE);
        return range < RANGES.length ? Optional.of(RANGES[range]) : Optional.empty();
    }

    /** The first page of a type of object, its directory. */
    public static int firstPage(ObjectType type) {
        int range = 0;
        while (RANGES[range] != type) {
            range++;
        }
        return range * RANGE;
    }
}
