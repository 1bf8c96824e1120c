package lunar.osd.s3.bucket;

import java.util.Optional;
import lunar.osd.s3.protocol.Conditions;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;

/**
 * Condition of a write on the object that it replaces, evaluated in the same step.
 *
 * @param ifMatch ETags of which the object must have one
 * @param ifNoneMatch whether there must be no object
 */
public record WriteCondition(Optional<String> ifMatch, boolean ifNoneMatch) {
    /** No condition. */
    public static final WriteCondition NONE = new WriteCondition(Optional.empty(), false);

    /** Returns the condition in the headers of a request. */
    public static WriteCondition of(RequestHead head) throws S3Exception {
        Optional<String> ifNoneMatch = head.header("if-none-match");
        if (ifNoneMatch.isPresent() && !ifNoneMatch.get().equals("*")) {
            throw new S3Exception(S3Error.NOT_IMPLEMENTED,
                    "A write can have If-None-Match: * alone.");
        }
        return new WriteCondition(head.header("if-match"), ifNoneMatch.isPresent());
    }

    void check(Optional<ObjectRecord> existing) throws S3Exception {
        if (ifNoneMatch && existing.isPresent()) {
            throw new S3Exception(S3Error.PRECONDITION_FAILED);
        }
        if (ifMatch.isPresent()) {
            ObjectRecord record = existing.orElseThrow(() -> new S3Exception(S3Error.NO_SUCH_KEY));
            if (!Conditions.matches(ifMatch.get(), record.etag())) {
                throw new S3Exception(S3Error.PRECONDITION_FAILED);
            }
        }
    }
}
