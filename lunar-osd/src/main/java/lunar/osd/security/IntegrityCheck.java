package lunar.osd.security;

import java.lang.foreign.MemorySegment;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import lunar.scsi.Bytes;

/**
 * The integrity check value algorithm HMAC-SHA1 (RFC 2104, FIPS 198), the only one that is defined: INTEGRITY CHECK
 * VALUE ALGORITHM 1.
 */
public final class IntegrityCheck {
    /** INTEGRITY CHECK VALUE ALGORITHM of HMAC-SHA1. */
    public static final int HMAC_SHA1 = 1;
    /** Bytes of a value and of a key. */
    public static final int LENGTH = 20;

    private static final String ALGORITHM = "HmacSHA1";

    private IntegrityCheck() {}

    /** Computes the value of parts, one behind the other. */
    public static Bytes of(Bytes key, MemorySegment... parts) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key.toArray(), ALGORITHM));
            for (MemorySegment part : parts) {
                if (part.byteSize() > 0) {
                    mac.update(part.asByteBuffer());
                }
            }
            return Bytes.of(mac.doFinal());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }

    /** Returns a value as it is in a field of the wire: padded with zeros behind it. */
    public static Bytes field(Bytes value, int length) {
        return value.length() == length
                ? value
                : Bytes.of(Arrays.copyOf(value.toArray(), length));
    }

    /** Whether a field has a value, in a time that does not depend on their contents. */
    public static boolean matches(Bytes value, Bytes field) {
        return MessageDigest.isEqual(field(value, field.length()).toArray(), field.toArray());
    }
}
