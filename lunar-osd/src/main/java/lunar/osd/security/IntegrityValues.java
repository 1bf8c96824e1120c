package lunar.osd.security;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.Stream;
import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.DataIntegrity;
import lunar.osd.wire.security.RequestNonce;
import lunar.osd.wire.sense.ResponseIntegrityCheck;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseDescriptor;
import lunar.scsi.Status;
import lunar.scsi.wire.BigEndian;

/**
 * The integrity check values of a command, each computed with the capability key. That CMDRSP and ALLDATA bind data
 * and response to the request nonce keeps those of one command from being used for another; the descriptions leave the
 * exact order of the bytes open.
 *
 * <pre>
 * request, CAPKEY             the security token (VPD page B1h)
 * request, CMDRSP, ALLDATA    the CDB, with the request integrity check value zero
 * continuation segment        request nonce, the segment with its integrity check value zero
 * data-out, ALLDATA           request nonce, the three lengths, data, set attributes, get attributes
 * data-in, ALLDATA            request nonce, the two lengths, data, retrieved attributes
 * response, CMDRSP, ALLDATA   request nonce, status, sense data with the response integrity check value zero
 * </pre>
 */
public final class IntegrityValues {
    /** Where a CDB continuation segment has its integrity check value. */
    private static final int CONTINUATION_VALUE_AT = 8;
    private static final int CONTINUATION_VALUE_LENGTH = 32;

    private IntegrityValues() {}

    /** Computes the request integrity check value of CAPKEY. */
    public static Bytes ofToken(Bytes key, Bytes securityToken) {
        return IntegrityCheck.of(key, securityToken.segment());
    }

    /** Computes the request integrity check value of CMDRSP and ALLDATA, whatever the field in the CDB has. */
    public static Bytes ofCdb(Bytes key, MemorySegment cdb, OsdVersion version) {
        int at = Capability.end(version);
        int end = at + version.integrityLength();
        return IntegrityCheck.of(key, cdb.asSlice(0, at), zeros(version.integrityLength()),
                cdb.asSlice(end, version.cdbLength() - end));
    }

    /** Computes the integrity check value of a CDB continuation segment, whatever the field in it has. */
    public static Bytes ofContinuation(Bytes key, RequestNonce nonce, MemorySegment segment) {
        return IntegrityCheck.of(key, nonce.bytes().segment(),
                segment.asSlice(0, CONTINUATION_VALUE_AT), zeros(CONTINUATION_VALUE_LENGTH),
                segment.asSlice(CONTINUATION_VALUE_AT + CONTINUATION_VALUE_LENGTH));
    }

    /** Returns the integrity check value that a CDB continuation segment has. */
    public static Bytes continuationField(MemorySegment segment) {
        return Fields.bytes(segment, CONTINUATION_VALUE_AT, CONTINUATION_VALUE_LENGTH);
    }

    /** Writes the integrity check value of a CDB continuation segment into it. */
    public static void sealContinuation(Bytes key, RequestNonce nonce, MemorySegment segment) {
        Fields.bytes(segment, CONTINUATION_VALUE_AT, IntegrityCheck
                .field(ofContinuation(key, nonce, segment), CONTINUATION_VALUE_LENGTH));
    }

    /** Computes the integrity check value of parts of data-out or data-in, and of their lengths. */
    public static Bytes ofData(Bytes key, RequestNonce nonce, MemorySegment... parts) {
        var all = new MemorySegment[parts.length + 2];
        var lengths = MemorySegment.ofArray(new byte[parts.length * DataIntegrity.NUMBER_LENGTH]);
        all[0] = nonce.bytes().segment();
        all[1] = lengths;
        for (int i = 0; i < parts.length; i++) {
            BigEndian.int64(lengths, (long) i * DataIntegrity.NUMBER_LENGTH, parts[i].byteSize());
            all[i + 2] = parts[i];
        }
        return IntegrityCheck.of(key, all);
    }

    /** Returns the integrity information about parts of data-out or data-in. */
    public static DataIntegrity information(Bytes key, RequestNonce nonce, OsdVersion version,
            MemorySegment... parts) {
        return new DataIntegrity(Stream.of(parts).map(MemorySegment::byteSize).toList(),
                IntegrityCheck.field(ofData(key, nonce, parts), version.integrityLength()));
    }

    /** Computes the response integrity check value of a command without sense data. */
    public static Bytes ofResponse(Bytes key, RequestNonce nonce, Status status) {
        return ofResponse(key, nonce, status.code(), MemorySegment.NULL);
    }

    /**
     * Computes the response integrity check value.
     *
     * @param sense sense data as they are sent; what they have as the value is not looked at
     */
    public static Bytes ofResponse(Bytes key, RequestNonce nonce, int status,
            MemorySegment sense) {
        var zeroed = MemorySegment.ofArray(sense.toArray(ValueLayout.JAVA_BYTE));
        zeroValue(zeroed);
        return IntegrityCheck.of(key, nonce.bytes().segment(),
                MemorySegment.ofArray(new byte[]{(byte) status}), zeroed);
    }

    /** Returns sense data of a CHECK CONDITION with the response integrity check value. */
    public static Sense seal(Bytes key, RequestNonce nonce, OsdVersion version, Sense sense) {
        int length = version.integrityLength();
        Sense unsealed = sense.withDescriptor(
                new ResponseIntegrityCheck(Bytes.of(new byte[length])).descriptor());
        Bytes value = ofResponse(key, nonce, Status.CHECK_CONDITION.code(),
                MemorySegment.ofArray(unsealed.encodeDescriptor()));
        return sense.withDescriptor(
                new ResponseIntegrityCheck(IntegrityCheck.field(value, length)).descriptor());
    }

    /** Zeroes the content of the response integrity check value descriptor in sense data in descriptor format. */
    private static void zeroValue(MemorySegment sense) {
        int header = 8;
        for (long at = header; at + SenseDescriptor.HEADER_LENGTH <= sense.byteSize();) {
            int length = BigEndian.int8(sense, at + 1);
            long content = at + SenseDescriptor.HEADER_LENGTH;
            long end = Math.min(content + length, sense.byteSize());
            if (BigEndian.int8(sense, at) == ResponseIntegrityCheck.TYPE) {
                sense.asSlice(content, end - content).fill((byte) 0);
                return;
            }
            at = content + length;
        }
    }

    private static MemorySegment zeros(int length) {
        return MemorySegment.ofArray(new byte[length]);
    }
}
