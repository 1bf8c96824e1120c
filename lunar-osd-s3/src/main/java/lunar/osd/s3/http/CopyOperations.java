package lunar.osd.s3.http;

import java.io.IOException;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import lunar.osd.s3.bucket.Bucket;
import lunar.osd.s3.bucket.Buckets;
import lunar.osd.s3.bucket.DataWriter;
import lunar.osd.s3.bucket.ObjectRecord;
import lunar.osd.s3.bucket.WriteCondition;
import lunar.osd.s3.checksum.ChecksumAlgorithm;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.osd.s3.protocol.ByteRange;
import lunar.osd.s3.protocol.HttpTime;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.s3.protocol.XmlWriter;

/** CopyObject. */
final class CopyOperations {
    private final Buckets buckets;
    private final Limits limits;
    private final InstantSource clock;

    CopyOperations(Buckets buckets, Limits limits, InstantSource clock) {
        this.buckets = buckets;
        this.limits = limits;
        this.clock = clock;
    }

    /** CopyObject: the data pass through this server, except onto the object itself, which gets other headers. */
    void copy(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters();
        boolean replace = switch (request.head().header("x-amz-metadata-directive")
                .orElse("COPY")) {
            case "COPY" -> false;
            case "REPLACE" -> true;
            default -> throw new S3Exception(S3Error.INVALID_ARGUMENT);
        };
        Bucket bucket = buckets.find(request.bucket());
        try (Bucket.Use _ = bucket.use();
                CopySource source = CopySource.open(request.head(), buckets)) {
            ObjectRecord record = source.record();
            Map<String, String> headers = replace
                    ? ObjectHeaders.kept(request.head())
                    : record.headers();
            if (source.is(bucket, request.key())) {
                if (!replace) {
                    throw new S3Exception(S3Error.INVALID_REQUEST,
                            "A copy of an object to itself must replace its metadata.");
                }
                record = bucket.describe(request.key(), record,
                        record.with(headers, clock.millis()), WriteCondition.of(request.head()));
            } else {
                record = copy(request, bucket, source, headers);
            }
            response.document(result("CopyObjectResult", record.etag(), record.modifiedMs(),
                    record.checksum()));
        }
    }

    private ObjectRecord copy(S3Request request, Bucket bucket, CopySource source,
            Map<String, String> headers) throws IOException, S3Exception {
        ObjectRecord from = source.record();
        if (from.length() > limits.maxObjectBytes()) {
            throw new S3Exception(S3Error.ENTITY_TOO_LARGE);
        }
        Optional<ChecksumAlgorithm> algorithm = ChecksumHeaders.algorithm(request.head())
                .or(() -> from.checksum().map(ObjectChecksum::algorithm));
        WriteCondition condition = WriteCondition.of(request.head());
        try (DataWriter out = bucket.write(request.key())) {
            CopySource.Copied copied = source.copyTo(out, new ByteRange(0, from.length()),
                    algorithm);
            return bucket.commit(request.key(), out, new ObjectRecord(0, false, 0,
                    clock.millis(), copied.md5(), headers, copied.checksum(), 0), condition);
        }
    }

    static XmlWriter result(String root, String etag, long modifiedMs,
            Optional<ObjectChecksum> checksum) {
        XmlWriter xml = XmlWriter.document(root)
                .text("LastModified", HttpTime.document(modifiedMs))
                .text("ETag", ObjectOperations.quoted(etag));
        ChecksumHeaders.write(xml, checksum);
        return xml;
    }
}
