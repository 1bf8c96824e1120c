package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.InvalidCdbException;

/**
 * Gets the attributes of one list and sets those of another one, both in data-out. The lists may be anywhere there.
 *
 * <pre>
 * 52 get attributes list length       68 set attributes list length
 * 56 get attributes list offset       72 set attributes list offset
 * 60 get attributes allocation length 76 reserved
 * 64 retrieved attributes offset
 * </pre>
 *
 * @param getList where in data-out the {@link GetAttributesList} is, with its header
 * @param retrieved where in data-in the {@link RetrievedAttributesList} goes, and how much of it
 * @param setList where in data-out the {@link SetAttributesList} is, with its header
 */
public record ListParameters(BufferPart getList, BufferPart retrieved, BufferPart setList)
        implements
        AttributeParameters {
    /** Gets and sets nothing; initiators send this with commands that have no attributes. */
    public static final ListParameters NONE = new ListParameters(BufferPart.NONE, BufferPart.NONE,
            BufferPart.NONE);

    static final int FORMAT = 3;

    private static final int GET_LENGTH_AT = 52;
    private static final int GET_OFFSET_AT = 56;
    private static final int ALLOCATION_LENGTH_AT = 60;
    private static final int RETRIEVED_OFFSET_AT = 64;
    private static final int SET_LENGTH_AT = 68;
    private static final int SET_OFFSET_AT = 72;

    /** Gets attributes. */
    public static ListParameters get(BufferPart getList, BufferPart retrieved) {
        return new ListParameters(getList, retrieved, BufferPart.NONE);
    }

    /** Sets attributes. */
    public static ListParameters set(BufferPart setList) {
        return new ListParameters(BufferPart.NONE, BufferPart.NONE, setList);
    }

    static ListParameters decode(MemorySegment cdb, OsdVersion version)
            throws InvalidCdbException {
        return new ListParameters(BufferPart.decode(cdb, GET_LENGTH_AT, GET_OFFSET_AT, version),
                BufferPart.decode(cdb, ALLOCATION_LENGTH_AT, RETRIEVED_OFFSET_AT, version),
                BufferPart.decode(cdb, SET_LENGTH_AT, SET_OFFSET_AT, version));
    }

    @Override
    public int format() { return FORMAT; }

    @Override
    public boolean hasDataOut() { return !getList.isEmpty() || !setList.isEmpty(); }

    @Override
    public boolean hasDataIn() { return !retrieved.isEmpty(); }

    @Override
    public void encode(MemorySegment cdb, OsdVersion version) {
        getList.encode(cdb, GET_LENGTH_AT, GET_OFFSET_AT, version);
        retrieved.encode(cdb, ALLOCATION_LENGTH_AT, RETRIEVED_OFFSET_AT, version);
        setList.encode(cdb, SET_LENGTH_AT, SET_OFFSET_AT, version);
    }
}
