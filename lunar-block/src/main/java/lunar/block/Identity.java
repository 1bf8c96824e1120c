package lunar.block;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * Which device it is: stable over restarts, the same over every path to it, and that of no other device.
 *
 * @param vendor at most 8 printable ASCII characters (SPC-5 T10 vendor identification)
 * @param product at most 16 printable ASCII characters
 * @param revision at most 4 printable ASCII characters
 * @param serial unit serial number, at most 64 printable ASCII characters
 * @param uuid identity from which designators (SPC-5 VPD page 83h) are made
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

    /** Identity of one of our own stores. */
    public static Identity of(String product, UUID uuid) {
        return new Identity("LUNAR", product, "0.1", uuid.toString().replace("-", ""), uuid);
    }

    /**
     * A UUID for what has a name but none: the same for one name, for ever. It is of version 8 (RFC 9562 section 5.8)
     * and made by SHA-256, since a hardened Java is without the MD5 of {@link UUID#nameUUIDFromBytes}.
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
