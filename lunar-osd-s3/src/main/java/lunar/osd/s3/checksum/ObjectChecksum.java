package lunar.osd.s3.checksum;

import java.util.Base64;
import java.util.Optional;

/**
 * A checksum of an object or a part.
 *
 * @param algorithm its algorithm
 * @param value in Base64; a composite one has a hyphen and the number of parts behind it
 */
public record ObjectChecksum(ChecksumAlgorithm algorithm, String value) {
    /** Returns a checksum with the right number of bytes; empty if the text is malformed. */
    public static Optional<ObjectChecksum> of(ChecksumAlgorithm algorithm, String base64) {
        return decode(base64, algorithm.length()).map(
                bytes -> new ObjectChecksum(algorithm, Base64.getEncoder().encodeToString(bytes)));
    }

    /** Returns what it is computed of. */
    public ChecksumType type() {
        return value.indexOf('-') < 0 ? ChecksumType.FULL_OBJECT : ChecksumType.COMPOSITE;
    }

    byte[] bytes() { return Base64.getDecoder().decode(value); }

    /** Returns a checksum of computed bytes. */
    public static ObjectChecksum of(ChecksumAlgorithm algorithm, byte[] value) {
        return new ObjectChecksum(algorithm, Base64.getEncoder().encodeToString(value));
    }

    /** Decodes Base64 of a known number of bytes; empty if it is malformed or has another length. */
    public static Optional<byte[]> decode(String base64, int length) {
        try {
            byte[] bytes = Base64.getDecoder().decode(base64);
            return bytes.length == length ? Optional.of(bytes) : Optional.empty();
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }
}
