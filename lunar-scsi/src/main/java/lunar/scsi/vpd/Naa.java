package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * A world-wide name (SPC-5): the kind hosts look for first. Its first four bits tell the form.
 *
 * @param value 8 bytes, or 16 in the form IEEE Registered Extended
 */
public record Naa(Bytes value) implements Identifier {
    static final int TYPE = 3;

    private static final int LOCALLY_ASSIGNED = 3;
    private static final int IEEE_REGISTERED_EXTENDED = 6;

    public Naa {
        if (!isValid(value.segment())) {
            throw new IllegalArgumentException("not an NAA designator: " + value);
        }
    }

    /** Form 3, locally assigned: 60 bits that follow from the UUID alone. */
    public static Naa locallyAssigned(UUID uuid) {
        var bytes = MemorySegment.ofArray(new byte[8]);
        BigEndian.int64(bytes, 0, BigEndian.int64(digest(uuid), 0));
        BigEndian.int8(bytes, 0, LOCALLY_ASSIGNED << 4 | (BigEndian.int8(bytes, 0) & 0xf));
        return new Naa(Bytes.of(bytes));
    }

    /**
     * Form 6, IEEE Registered Extended: 100 bits that follow from the UUID alone.
     *
     * @param companyId 24 bits that the IEEE has assigned to the naming company
     */
    public static Naa registeredExtended(int companyId, UUID uuid) {
        CdbFields.check("companyId", companyId, 0xff_ffff);
        var bytes = MemorySegment.ofArray(new byte[16]);
        MemorySegment.copy(digest(uuid), 0, bytes, 0, 16);
        int vendorBits = BigEndian.int8(bytes, 3) & 0xf;
        BigEndian.int32(bytes, 0, (long) IEEE_REGISTERED_EXTENDED << 28 | (long) companyId << 4
                | vendorBits);
        return new Naa(Bytes.of(bytes));
    }

    static boolean isValid(MemorySegment bytes) {
        return bytes.byteSize() == 8
                || (bytes.byteSize() == 16
                        && BigEndian.int8(bytes, 0) >> 4 == IEEE_REGISTERED_EXTENDED);
    }

    @Override
    public int codeSet() { return BINARY; }

    @Override
    public int type() { return TYPE; }

    @Override
    public byte[] content() { return value.toArray(); }

    /** A hash spreads the UUID over few bits better than any of its own fields, six of which are constant. */
    private static MemorySegment digest(UUID uuid) {
        byte[] array = new byte[16];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int64(bytes, 0, uuid.getMostSignificantBits());
        BigEndian.int64(bytes, 8, uuid.getLeastSignificantBits());
        try {
            return MemorySegment.ofArray(MessageDigest.getInstance("SHA-256").digest(array));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
