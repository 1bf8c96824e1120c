package lunar.osd.wire.attribute;

import java.lang.foreign.MemorySegment;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.wire.BigEndian;

/**
 * The get and set attributes parameters of a CDB, bytes 52 to 79, in the format that GET/SET CDBFMT (bits 5 and 4 of
 * byte 11) names. Every command can get and set attributes. GET ATTRIBUTES gets, then sets; all others set, then get.
 */
public sealed interface AttributeParameters
        permits PageParameters, ListParameters, FieldParameters {
    /** GET/SET CDBFMT: from 1 to 3. */
    int format();

    /** Whether data-out has a list or a value for these parameters. */
    boolean hasDataOut();

    /** Whether attributes are retrieved into data-in. */
    boolean hasDataIn();

    /** Whether a version has this format. */
    default boolean isIn(OsdVersion version) {
        return true;
    }

    /**
     * Writes bytes 52 to 79 of a CDB.
     *
     * @throws IllegalArgumentException for an offset that the version cannot encode
     */
    void encode(MemorySegment cdb, OsdVersion version);

    /**
     * Reads the parameters of a CDB that is all there.
     *
     * @throws InvalidCdbException 24h/00h for a reserved format, an illegal offset that is used, or a value that is too
     *         long
     */
    static AttributeParameters decode(MemorySegment cdb, OsdVersion version)
            throws InvalidCdbException {
        int format = BigEndian.int8(cdb, ParameterLayout.FORMAT_AT) >> ParameterLayout.FORMAT_SHIFT
                & ParameterLayout.FORMAT_MASK;
        return switch (format) {
            case PageParameters.FORMAT -> PageParameters.decode(cdb, version);
            case ListParameters.FORMAT -> ListParameters.decode(cdb, version);
            default -> {
                if (format != FieldParameters.FORMAT || version != OsdVersion.OSD_2) {
                    throw InvalidCdbException.field(ParameterLayout.FORMAT_AT, 5);
                }
                yield FieldParameters.decode(cdb);
            }
        };
    }
}
