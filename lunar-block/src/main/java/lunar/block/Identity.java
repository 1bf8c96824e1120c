package lunar.block;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * Identity of a device: unique, stable over restarts, and equal over every path to the device.
 *
 * @param vendor at most 8 printable ASCII characters (SPC-5 T10 vendor identification)
 * @param product at most 16 printable ASCII characters
 * @param revision at most 4 printable ASCII characters
 * @param serial unit serial number, at most 64 printable ASCII characters
 * @param uuid from which designators are derived (SPC-5 VPD page 83h)
 */
public record Identity(String vendor, String product, String revision, String serial, UUID uuid) {
    private static final long VERSION_MASK = 0xf000;
    private static final long VERSION_8 = 0x8000;
    private static final long VARIANT_MASK = 0xc000_0000_0000_0000L;
    private static final long VARIANT = 0x8000_0000_0000_0000L;

    public Identity {
        requireAscii("vendor", vendor, 8);
        requireAscii("product", product, 16);
        requireAscii("revision", revision, 4);
        requireAscii("serial", serial, 64);
    }

    /** Returns the identity of a device of Lunar. */
    public static Identity of(String product, UUID uuid) {
        return new Identity("LUNAR", product, "0.1", uuid.toString().replace("-", ""), uuid);
    }

    /**
     * Returns a UUID derived from a name, always the same for the same name. It has version 8 (RFC 9562 section 5.8)
     * and is derived by SHA-256, because a hardened Java lacks the MD5 of {@link UUID#nameUUIDFromBytes}.
     */
    public static UUID uuidOf(String name) {
        byte[] hash;
        try {
            hash = MessageDigest.getInstance("SHA-256")
                    .digest(name.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
        ByteBuffer bytes = ByteBuffer.wrap(hash);
        return new UUID((bytes.getLong() & ~VERSION_MASK) | VERSION_8,
                (bytes.getLong() & ~VARIANT_MASK) | VARIANT);
    }

    private static void requireAscii(String name, String value, int maxLength) {
        if (value.length() > maxLength || !value.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
            throw new IllegalArgumentException(
                    name + " must be at most " + maxLength + " printable ASCII characters: "
                            + value);
        }
    }
}
