package lunar.osd.s3.checksum;

import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * Kind of checksum of a multipart object, which is computed of its parts' checksums, without their data.
 *
 * @param algorithm algorithm of the parts' checksums
 * @param type input of the checksum of the object
 */
public record MultipartChecksum(ChecksumAlgorithm algorithm, ChecksumType type) {
    /** A part: its checksum of the algorithm, and its bytes. */
    public record Part(ObjectChecksum checksum, long length) {}

    /** @throws IllegalArgumentException if the algorithm does not have this type */
    public MultipartChecksum {
        if (!supports(algorithm, type)) {
            throw new IllegalArgumentException(algorithm + " has no checksums " + type);
        }
    }

    /** Returns the kind of an algorithm and a type; empty if the algorithm does not have it. */
    public static Optional<MultipartChecksum> of(ChecksumAlgorithm algorithm, ChecksumType type) {
        return supports(algorithm, type)
                ? Optional.of(new MultipartChecksum(algorithm, type))
                : Optional.empty();
    }

    /** Whether an algorithm has a type: a digest of all data does not follow from those of the parts. */
    public static boolean supports(ChecksumAlgorithm algorithm, ChecksumType type) {
        return switch (algorithm) {
            case CRC32, CRC32C -> true;
            case CRC64NVME -> type == ChecksumType.FULL_OBJECT;
            case SHA1, SHA256 -> type == ChecksumType.COMPOSITE;
        };
    }

    /** Returns the type that an algorithm has where a client names none. */
    public static ChecksumType defaultType(ChecksumAlgorithm algorithm) {
        return supports(algorithm, ChecksumType.COMPOSITE)
                ? ChecksumType.COMPOSITE
                : ChecksumType.FULL_OBJECT;
    }

    /** Computes the checksum of an object that consists of parts. */
    public ObjectChecksum of(List<Part> parts) {
        return new ObjectChecksum(algorithm, switch (type) {
            case COMPOSITE -> composite(parts);
            case FULL_OBJECT -> fullObject(parts);
        });
    }

    private String composite(List<Part> parts) {
        RunningChecksum all = algorithm.start();
        for (Part part : parts) {
            byte[] value = part.checksum().bytes();
            all.update(value, 0, value.length);
        }
        return Base64.getEncoder().encodeToString(all.value()) + '-' + parts.size();
    }

    private String fullObject(List<Part> parts) {
        var crc = CrcCombination.of(algorithm);
        byte[] all = algorithm.start().value(); // of no data
        for (Part part : parts) {
            all = crc.combine(all, part.checksum().bytes(), part.length());
        }
        return Base64.getEncoder().encodeToString(all);
    }
}
