package lunar.osd.s3.checksum;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/** Checksum algorithms of S3. */
public enum ChecksumAlgorithm {
    CRC32(4), CRC32C(4), CRC64NVME(8), SHA1(20), SHA256(32);

    private static final String PREFIX = "x-amz-checksum-";

    private final int length;

    ChecksumAlgorithm(int length) { this.length = length; }

    /** Returns the algorithm of a name such as {@code crc32}, in any case; empty if it is not known. */
    public static Optional<ChecksumAlgorithm> named(String name) {
        return Arrays.stream(values()).filter(each -> each.name().equalsIgnoreCase(name))
                .findFirst();
    }

    /** Returns the algorithm of a header such as {@code x-amz-checksum-crc32}; empty if it is no such header. */
    public static Optional<ChecksumAlgorithm> ofHeader(String header) {
        return header.startsWith(PREFIX)
                ? named(header.substring(PREFIX.length()))
                : Optional.empty();
    }

    /** Returns the number of bytes of a checksum. */
    public int length() { return length; }

    /** Returns the name of its header, in lower case. */
    public String header() {
        return PREFIX + name().toLowerCase(Locale.ROOT);
    }

    /** Returns the name of its element in documents. */
    public String element() {
        return "Checksum" + name();
    }

    /** Starts a checksum. */
    public RunningChecksum start() {
        return switch (this) {
            case CRC32 -> crc(new CRC32());
            case CRC32C -> crc(new CRC32C());
            case CRC64NVME -> new Crc64Nvme();
            case SHA1 -> digest("SHA-1");
            case SHA256 -> digest("SHA-256");
        };
    }

    /** Starts an MD5 digest, which is that of ETags and Content-MD5. */
    public static RunningChecksum startMd5() {
        return digest("MD5");
    }

    private static RunningChecksum crc(Checksum crc) {
        return new RunningChecksum() {
            @Override
            public void update(byte[] data, int at, int length) { crc.update(data, at, length); }

            @Override
            public byte[] value() {
                long value = crc.getValue();
                return new byte[]{(byte) (value >> 24), (byte) (value >> 16), (byte) (value >> 8),
                        (byte) value};
            }
        };
    }

    private static RunningChecksum digest(String algorithm) {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has " + algorithm, e);
        }
        return new RunningChecksum() {
            @Override
            public void update(byte[] data, int at, int length) { digest.update(data, at, length); }

            @Override
            public byte[] value() { return digest.digest(); }
        };
    }
}
