package lunar.osd.s3.http;

import java.util.ArrayList;
import java.util.Locale;
import java.util.Optional;
import lunar.osd.s3.bucket.Completion;
import lunar.osd.s3.checksum.ChecksumAlgorithm;
import lunar.osd.s3.checksum.ChecksumType;
import lunar.osd.s3.checksum.MultipartChecksum;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.s3.protocol.XmlWriter;

/** Headers and elements about checksums, other than the checksum of a request's own body. */
final class ChecksumHeaders {
    static final String ALGORITHM = "x-amz-checksum-algorithm";
    static final String TYPE = "x-amz-checksum-type";

    private static final String OBJECT_SIZE = "x-amz-mp-object-size";

    private ChecksumHeaders() {}

    /** Returns the algorithm that a request names. */
    static Optional<ChecksumAlgorithm> algorithm(RequestHead head) throws S3Exception {
        Optional<String> name = head.header(ALGORITHM);
        Optional<ChecksumAlgorithm> algorithm = name.flatMap(ChecksumAlgorithm::named);
        if (name.isPresent() && algorithm.isEmpty()) {
            throw invalid("The checksum algorithm is not known.");
        }
        return algorithm;
    }

    /** Returns the checksum that an upload is created with. */
    static Optional<MultipartChecksum> ofUpload(RequestHead head) throws S3Exception {
        Optional<ChecksumAlgorithm> algorithm = algorithm(head);
        Optional<ChecksumType> type = type(head);
        if (algorithm.isEmpty()) {
            if (type.isPresent()) {
                throw invalid("A checksum type needs an algorithm.");
            }
            return Optional.empty();
        }
        return Optional.of(MultipartChecksum
                .of(algorithm.get(), type.orElse(MultipartChecksum.defaultType(algorithm.get())))
                .orElseThrow(() -> invalid("The algorithm does not have this type of checksum.")));
    }

    private static Optional<ChecksumType> type(RequestHead head) throws S3Exception {
        Optional<String> name = head.header(TYPE);
        try {
            return name.map(text -> ChecksumType.valueOf(text.toUpperCase(Locale.ROOT)));
        } catch (IllegalArgumentException _) {
            throw invalid("The checksum type is not known.");
        }
    }

    /** Returns what a completion says of the object as a whole. */
    static Completion.Expected ofCompletion(RequestHead head) throws S3Exception {
        var found = new ArrayList<ObjectChecksum>();
        for (ChecksumAlgorithm algorithm : ChecksumAlgorithm.values()) {
            head.header(algorithm.header())
                    .ifPresent(value -> found.add(new ObjectChecksum(algorithm, value)));
        }
        if (found.size() > 1) {
            throw invalid("A request has one checksum.");
        }
        return new Completion.Expected(found.stream().findFirst(), type(head),
                head.lengthHeader(OBJECT_SIZE));
    }

    private static S3Exception invalid(String message) {
        return new S3Exception(S3Error.INVALID_REQUEST, message);
    }

    /** Writes the elements of a checksum. */
    static void write(XmlWriter xml, Optional<ObjectChecksum> checksum) {
        if (checksum.isPresent()) {
            xml.text(checksum.get().algorithm().element(), checksum.get().value());
            xml.text("ChecksumType", checksum.get().type().name());
        }
    }
}
