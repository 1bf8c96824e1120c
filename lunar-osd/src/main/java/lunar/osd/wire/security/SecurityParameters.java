package lunar.osd.wire.security;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;

/**
 * The security parameters, the last bytes of a CDB.
 *
 * <pre>
 * OSD-1 OSD-2
 *   0     0   request integrity check value (20, 32)
 *  20    32   request nonce (12)
 *  32    44   data-in integrity check value offset, encoded
 *  36    48   data-out integrity check value offset, encoded
 * </pre>
 *
 * @param integrityCheckValue request integrity check value, as long as the version has it
 * @param nonce request nonce
 * @param dataInOffset as encoded by {@link lunar.osd.wire.EncodedOffset}; not decoded, because it has no meaning
 *        without security and may then be anything
 * @param dataOutOffset likewise
 */
public record SecurityParameters(Bytes integrityCheckValue, RequestNonce nonce, int dataInOffset,
        int dataOutOffset) {
    private static final SecurityParameters NONE_OSD_1 = zero(OsdVersion.OSD_1);
    private static final SecurityParameters NONE_OSD_2 = zero(OsdVersion.OSD_2);

    /** All bytes are zero, as Linux sends them without security. */
    public static SecurityParameters none(OsdVersion version) {
        return version == OsdVersion.OSD_1 ? NONE_OSD_1 : NONE_OSD_2;
    }

    private static SecurityParameters zero(OsdVersion version) {
        return new SecurityParameters(Bytes.of(new byte[version.integrityLength()]),
                RequestNonce.NONE, 0, 0);
    }

    /** Whether the layout of a version has a place for the integrity check value. */
    public boolean fits(OsdVersion version) {
        return integrityCheckValue.length() == version.integrityLength();
    }

    /** Reads the parameters, all of which must be there; never fails. */
    public static SecurityParameters decode(MemorySegment bytes, OsdVersion version) {
        int nonceAt = version.integrityLength();
        int offsetsAt = nonceAt + RequestNonce.LENGTH;
        return new SecurityParameters(Fields.bytes(bytes, 0, nonceAt),
                RequestNonce.decode(bytes, nonceAt), Fields.bits32(bytes, offsetsAt),
                Fields.bits32(bytes, offsetsAt + 4));
    }

    /** Writes the parameters. */
    public void encode(MemorySegment target) {
        int nonceAt = integrityCheckValue.length();
        int offsetsAt = nonceAt + RequestNonce.LENGTH;
        Fields.bytes(target, 0, integrityCheckValue);
        nonce.encode(target, nonceAt);
        BigEndian.int32(target, offsetsAt, dataInOffset);
        BigEndian.int32(target, offsetsAt + 4, dataOutOffset);
    }

    /** Leaves out the integrity check value. */
    @Override
    public String toString() {
        return String.format("SecurityParameters[%s, dataInOffset=%08Xh, dataOutOffset=%08Xh]",
                nonce, dataInOffset, dataOutOffset);
    }
}
