package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.osd.field.Fields;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.wire.BigEndian;

/**
 * Gets a page, and sets one attribute to a value in data-out.
 *
 * <pre>
 * 52 get attributes page              64 set attributes page
 * 56 get attributes allocation length 68 set attribute number
 * 60 retrieved attributes offset      72 set attribute length
 *                                     76 set attributes offset
 * </pre>
 *
 * @param getPage page to get; {@link #NO_PAGE} for none
 * @param retrieved where in data-in the page goes, and how much of it
 * @param set attribute to set, if one is; its page is not {@link #NO_PAGE}
 * @param setValue where its value is in data-out; empty to delete the attribute
 */
public record PageParameters(int getPage, BufferPart retrieved, Optional<AttributeId> set,
        BufferPart setValue) implements AttributeParameters {
    /** No page is meant, although the user object directory has this number. */
    public static final int NO_PAGE = 0;

    static final int FORMAT = 2;

    private static final int GET_PAGE_AT = 52;
    private static final int ALLOCATION_LENGTH_AT = 56;
    private static final int RETRIEVED_OFFSET_AT = 60;
    private static final int SET_PAGE_AT = 64;
    private static final int SET_NUMBER_AT = 68;
    private static final int SET_LENGTH_AT = 72;
    private static final int SET_OFFSET_AT = 76;

    public PageParameters {
        boolean getsNowhere = getPage == NO_PAGE && !retrieved.isEmpty();
        boolean setsNothing = set.isEmpty() && !setValue.isEmpty();
        if (getsNowhere || setsNothing || set.filter(id -> id.page() == NO_PAGE).isPresent()) {
            throw new IllegalArgumentException("page " + getPage + " into " + retrieved + ", set "
                    + set + " to " + setValue);
        }
    }

    /** Gets a page. */
    public static PageParameters get(int page, BufferPart retrieved) {
        return new PageParameters(page, retrieved, Optional.empty(), BufferPart.NONE);
    }

    static PageParameters decode(MemorySegment cdb, OsdVersion version)
            throws InvalidCdbException {
        int getPage = Fields.bits32(cdb, GET_PAGE_AT);
        int setPage = Fields.bits32(cdb, SET_PAGE_AT);
        return new PageParameters(getPage,
                getPage == NO_PAGE
                        ? BufferPart.NONE
                        : BufferPart.decode(cdb, ALLOCATION_LENGTH_AT, RETRIEVED_OFFSET_AT,
                                version),
                setPage == NO_PAGE
                        ? Optional.empty()
                        : Optional.of(
                                new AttributeId(setPage, Fields.bits32(cdb, SET_NUMBER_AT))),
                setPage == NO_PAGE
                        ? BufferPart.NONE
                        : BufferPart.decode(cdb, SET_LENGTH_AT, SET_OFFSET_AT, version));
    }

    @Override
    public int format() { return FORMAT; }

    @Override
    public boolean hasDataOut() { return !setValue.isEmpty(); }

    @Override
    public boolean hasDataIn() { return !retrieved.isEmpty(); }

    @Override
    public void encode(MemorySegment cdb, OsdVersion version) {
        BigEndian.int32(cdb, GET_PAGE_AT, getPage);
        retrieved.encode(cdb, ALLOCATION_LENGTH_AT, RETRIEVED_OFFSET_AT, version);
        BigEndian.int32(cdb, SET_PAGE_AT, set.map(AttributeId::page).orElse(NO_PAGE));
        BigEndian.int32(cdb, SET_NUMBER_AT, set.map(AttributeId::number).orElse(0));
        setValue.encode(cdb, SET_LENGTH_AT, SET_OFFSET_AT, version);
    }
}
