package lunar.osd.s3.bucket;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lunar.osd.s3.checksum.ChecksumAlgorithm;
import lunar.osd.s3.checksum.ChecksumType;
import lunar.osd.s3.checksum.MultipartChecksum;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;

/**
 * Describes the object that an upload is to become, in the words of the client.
 *
 * @param parts the parts, in ascending order
 * @param expected the object as a whole
 */
public record Completion(List<Named> parts, Expected expected) {
    public Completion {
        parts = List.copyOf(parts);
    }

    /**
     * A part that a completion names.
     *
     * @param number its number
     * @param etag its ETag, without quotes
     * @param checksums checksums that it must have, if the client has sent them with the part
     */
    public record Named(int number, String etag, List<ObjectChecksum> checksums) {
        public Named {
            checksums = List.copyOf(checksums);
        }

        private boolean isContradictedBy(PartRecord part) {
            return !part.etag().equals(etag)
                    || part.checksum().filter(this::contradicts).isPresent();
        }

        private boolean contradicts(ObjectChecksum ofPart) {
            return checksums.stream().anyMatch(each -> each.algorithm() == ofPart.algorithm()
                    && !each.equals(ofPart));
        }
    }

    /**
     * The object as a whole.
     *
     * @param checksum its checksum; a composite one with or without the number of parts
     * @param type type of its checksum
     * @param length its bytes
     */
    public record Expected(Optional<ObjectChecksum> checksum, Optional<ChecksumType> type,
            Optional<Long> length) {
        /** Nothing in particular. */
        public static final Expected NOTHING = new Expected(Optional.empty(), Optional.empty(),
                Optional.empty());
    }

    /**
     * Takes the named parts out of all and checks them.
     *
     * @param minPartBytes least length of a part other than the last
     */
    List<PartRecord> select(Map<Integer, PartRecord> all, long minPartBytes) throws S3Exception {
        if (parts.isEmpty()) {
            throw new S3Exception(S3Error.MALFORMED_XML, "A completion names at least one part.");
        }
        var selected = new ArrayList<PartRecord>();
        int before = 0;
        for (Named each : parts) {
            if (each.number() <= before) {
                throw new S3Exception(S3Error.INVALID_PART_ORDER);
            }
            before = each.number();
            PartRecord part = all.remove(each.number());
            if (part == null || each.isContradictedBy(part)) {
                throw new S3Exception(S3Error.INVALID_PART);
            }
            selected.add(part);
        }
        for (PartRecord part : selected.subList(0, selected.size() - 1)) {
            if (part.length() < minPartBytes) {
                throw new S3Exception(S3Error.ENTITY_TOO_SMALL);
            }
        }
        return selected;
    }

    /**
     * Computes the checksum of the object, and checks the object against what the client expects.
     *
     * @param ofUpload what the upload was created with
     * @param selected the parts
     * @return the checksum; empty if neither the upload nor the completion has one
     */
    Optional<ObjectChecksum> checksum(Optional<MultipartChecksum> ofUpload,
            List<PartRecord> selected) throws S3Exception {
        long length = selected.stream().mapToLong(PartRecord::length).sum();
        if (expected.length().isPresent() && expected.length().get() != length) {
            throw invalid("The object has " + length + " bytes.");
        }
        Optional<MultipartChecksum> kind = ofUpload.isPresent() ? ofUpload : expectedKind();
        if (kind.isEmpty()) {
            return Optional.empty();
        }
        boolean sameAlgorithm = expected.checksum().isEmpty()
                || expected.checksum().get().algorithm() == kind.get().algorithm();
        boolean sameType = expected.type().isEmpty()
                || expected.type().get() == kind.get().type();
        if (!sameAlgorithm || !sameType) {
            throw invalid("The checksum is not of the kind with which the upload was created.");
        }
        var summed = new ArrayList<MultipartChecksum.Part>();
        for (PartRecord part : selected) {
            ObjectChecksum checksum = part.checksum()
                    .filter(each -> each.algorithm() == kind.get().algorithm())
                    .orElseThrow(() -> invalid("A part has no checksum of this algorithm."));
            summed.add(new MultipartChecksum.Part(checksum, part.length()));
        }
        ObjectChecksum computed = kind.get().of(summed);
        if (expected.checksum().isPresent()) {
            String value = expected.checksum().get().value();
            if (!computed.value().equals(value)
                    && !computed.value().equals(value + '-' + selected.size())) {
                throw new S3Exception(S3Error.BAD_DIGEST);
            }
        }
        return Optional.of(computed);
    }

    private Optional<MultipartChecksum> expectedKind() throws S3Exception {
        if (expected.checksum().isEmpty()) {
            return Optional.empty();
        }
        ChecksumAlgorithm algorithm = expected.checksum().get().algorithm();
        ChecksumType shown = expected.checksum().get().type();
        ChecksumType type = expected.type().orElse(MultipartChecksum.supports(algorithm, shown)
                ? shown
                : MultipartChecksum.defaultType(algorithm));
        return Optional.of(MultipartChecksum.of(algorithm, type).orElseThrow(
                () -> invalid("The algorithm does not have this type of checksum.")));
    }

    private static S3Exception invalid(String message) {
        return new S3Exception(S3Error.INVALID_REQUEST, message);
    }
}
