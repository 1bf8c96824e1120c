package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import lunar.scsi.Bytes;
import lunar.scsi.ParameterData;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * A ROD token (SPC-5 section 6.4.5.9, SBC-4 section 4.28): represents data, and entitles its bearer to read them.
 *
 * <pre>
 * 0 ROD type   6 ROD token length (01F8h)   8 copy manager ROD token identifier   16 creator logical unit (CSCD)
 * 48 number of bytes   96 block length   101 logical blocks per physical block exponent   102 LBPME 7, LBPRZ 6
 * 128 target device descriptor   480 extended data: an unguessable secret
 * </pre>
 *
 * @param type ROD TYPE
 * @param identifier COPY MANAGER ROD TOKEN IDENTIFIER
 * @param creator the logical unit that has the data
 * @param byteCount NUMBER OF BYTES REPRESENTED
 * @param capacity of that logical unit
 * @param target name of the target device
 * @param secret 32 bytes
 */
public record RodToken(long type, long identifier, CscdDescriptor creator, long byteCount,
        CapacityData16 capacity, Identifier.ScsiName target, Bytes secret)
        implements
        ParameterData {
    /** Bytes of every token. */
    public static final int LENGTH = 512;
    /** ROD TYPE: point in time copy that ends when the source is written. */
    public static final long CHANGE_VULNERABLE = 0x0080_0001L;
    /** ROD TYPE: any point in time copy. */
    public static final long ANY_POINT_IN_TIME = 0x0080_ffffL;
    /** ROD TYPE: zeroes, as many as one likes. */
    public static final long ZEROES = 0xffff_0001L;
    /** Bytes of the secret. */
    public static final int SECRET_LENGTH = 32;

    private static final int TOKEN_LENGTH = LENGTH - 8;
    private static final int SECRET_AT = LENGTH - SECRET_LENGTH;

    public RodToken {
        CdbFields.check("type", type, 0xffff_ffffL);
        if (secret.length() != SECRET_LENGTH) {
            throw new IllegalArgumentException("secret of " + secret.length() + " bytes");
        }
    }

    /** The token that stands for zeroes. */
    public static Bytes zeroes() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, ZEROES);
        BigEndian.int16(bytes, 6, TOKEN_LENGTH);
        return Bytes.of(array);
    }

    /** ROD TYPE of a token. */
    public static long type(Bytes token) {
        return BigEndian.int32(token.segment(), 0);
    }

    /** Whether ROD TOKEN LENGTH of a token is right. */
    public static boolean hasValidLength(Bytes token) {
        return BigEndian.int16(token.segment(), 6) == TOKEN_LENGTH;
    }

    /** COPY MANAGER ROD TOKEN IDENTIFIER of a token. */
    public static long identifier(Bytes token) {
        return BigEndian.int64(token.segment(), 8);
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, type);
        BigEndian.int16(bytes, 6, TOKEN_LENGTH);
        BigEndian.int64(bytes, 8, identifier);
        System.arraycopy(creator.bytes(), 0, array, 16, CscdDescriptor.LENGTH);
        BigEndian.int64(bytes, 56, byteCount);
        // Block length, exponents and provisioning stand as in READ CAPACITY(16) data from their byte 8 on.
        System.arraycopy(Arrays.copyOfRange(capacity.bytes(), 8, 16), 0, array, 96, 8);
        byte[] device = Designator.ofDevice(target).bytes();
        System.arraycopy(device, 0, array, 128, device.length);
        MemorySegment.copy(secret.segment(), 0, bytes, SECRET_AT, SECRET_LENGTH);
        return array;
    }
}
