package lunar.osd.wire.attribute;

import java.util.Comparator;

/**
 * Identifies an attribute of an object. The order is by page and number.
 *
 * @param page attributes page, unsigned; {@link #ALL_PAGES} gets those of all pages
 * @param number attribute number, unsigned; {@link #ALL_NUMBERS} gets all of the page
 */
public record AttributeId(int page, int number) implements Comparable<AttributeId> {
    /** All pages of an object, in a get attributes list. */
    public static final int ALL_PAGES = 0xffff_ffff;
    /** All attributes of a page, in a get attributes list. */
    public static final int ALL_NUMBERS = 0xffff_ffff;
    /** Number of the attribute that identifies its page, 40 bytes. */
    public static final int PAGE_IDENTIFICATION = 0;

    private static final Comparator<AttributeId> ORDER = Comparator
            .<AttributeId>comparingLong(id -> Integer.toUnsignedLong(id.page))
            .thenComparingLong(id -> Integer.toUnsignedLong(id.number));

    @Override
    public int compareTo(AttributeId other) { return ORDER.compare(this, other); }

    /** Page and number as hexadecimal numbers. */
    @Override
    public String toString() {
        return Integer.toHexString(page) + "h/" + Integer.toHexString(number) + 'h';
    }
}
