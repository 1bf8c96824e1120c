package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.wire.BigEndian;

/**
 * Sets one attribute to a value in the CDB (OSD-2).
 *
 * <pre>
 * 52 set attributes page   56 set attribute number   60 set attribute length (2)   62 value (18)
 * </pre>
 *
 * @param attribute page, number and value of at most {@link #MAX_LENGTH} bytes; no bytes delete the attribute
 */
public record FieldParameters(Attribute attribute) implements AttributeParameters {
    /** Most bytes of the value. */
    public static final int MAX_LENGTH = 18;

    static final int FORMAT = 1;

    private static final int PAGE_AT = 52;
    private static final int NUMBER_AT = 56;
    private static final int LENGTH_AT = 60;
    private static final int VALUE_AT = 62;

    public FieldParameters {
        Fields.check("length of a value in a CDB", attribute.value().length(), MAX_LENGTH);
    }

    static FieldParameters decode(MemorySegment cdb) throws InvalidCdbException {
        int length = BigEndian.int16(cdb, LENGTH_AT);
        if (length > MAX_LENGTH) {
            throw InvalidCdbException.field(LENGTH_AT);
        }
        return new FieldParameters(new Attribute(
                new AttributeId(Fields.bits32(cdb, PAGE_AT), Fields.bits32(cdb, NUMBER_AT)),
                Fields.bytes(cdb, VALUE_AT, length)));
    }

    @Override
    public int format() { return FORMAT; }

    @Override
    public boolean hasDataOut() { return false; }

    @Override
    public boolean hasDataIn() { return false; }

    @Override
    public boolean isIn(OsdVersion version) { return version == OsdVersion.OSD_2; }

    @Override
    public void encode(MemorySegment cdb, OsdVersion version) {
        BigEndian.int32(cdb, PAGE_AT, attribute.id().page());
        BigEndian.int32(cdb, NUMBER_AT, attribute.id().number());
        BigEndian.int16(cdb, LENGTH_AT, attribute.value().length());
        Fields.bytes(cdb, VALUE_AT, attribute.value());
    }
}
