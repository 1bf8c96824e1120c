package lunar.osd.s3.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.HexFormat;
import java.util.Optional;
import lunar.osd.s3.bucket.Bucket;
import lunar.osd.s3.bucket.OpenObject;
import lunar.osd.s3.bucket.ObjectRecord;
import lunar.osd.s3.bucket.Buckets;
import lunar.osd.s3.checksum.ChecksumAlgorithm;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.osd.s3.checksum.RunningChecksum;
import lunar.osd.s3.protocol.ByteRange;
import lunar.osd.s3.protocol.Conditions;
import lunar.osd.s3.protocol.PercentEncoding;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;

/** The object that a request copies; it stays as it is until it is closed. For the thread of the request. */
final class CopySource implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 20;

    private final Bucket.Use use;
    private final Bucket bucket;
    private final String key;
    private final OpenObject object;

    private CopySource(Bucket.Use use, Bucket bucket, String key, OpenObject object) {
        this.use = use;
        this.bucket = bucket;
        this.key = key;
        this.object = object;
    }

    /** Opens the source that a request names, and evaluates its conditions. */
    static CopySource open(RequestHead head, Buckets buckets) throws IOException, S3Exception {
        String header = head.header("x-amz-copy-source").orElse("");
        if (header.contains("?")) {
            throw new S3Exception(S3Error.NOT_IMPLEMENTED, "Versions are not supported.");
        }
        String path = PercentEncoding.decodePath(header);
        path = path.startsWith("/") ? path.substring(1) : path;
        int slash = path.indexOf('/');
        if (slash < 1 || slash == path.length() - 1) {
            throw new S3Exception(S3Error.INVALID_ARGUMENT,
                    "x-amz-copy-source must be a bucket and a key.");
        }
        String key = path.substring(slash + 1);
        Bucket bucket = buckets.find(path.substring(0, slash));
        Bucket.Use use = bucket.use();
        OpenObject object = null;
        boolean opened = false;
        try {
            object = bucket.open(key);
            ObjectRecord record = object.record();
            if (Conditions.of(head, "x-amz-copy-source-").evaluate(record.etag(),
                    record.modifiedMs()) != Conditions.Verdict.HOLD) {
                throw new S3Exception(S3Error.PRECONDITION_FAILED);
            }
            opened = true;
            return new CopySource(use, bucket, key, object);
        } finally {
            if (!opened) {
                if (object != null) {
                    object.close();
                }
                use.close();
            }
        }
    }

    ObjectRecord record() { return object.record(); }

    boolean is(Bucket otherBucket, String otherKey) {
        return bucket.equals(otherBucket) && key.equals(otherKey);
    }

    /**
     * Data that were copied.
     *
     * @param md5 MD5 in hexadecimal
     * @param checksum the checksum that was to be computed
     */
    record Copied(String md5, Optional<ObjectChecksum> checksum) {}

    /** Copies a range, and computes a checksum of it. */
    Copied copyTo(OutputStream out, ByteRange range, Optional<ChecksumAlgorithm> algorithm)
            throws IOException {
        RunningChecksum md5 = ChecksumAlgorithm.startMd5();
        Optional<RunningChecksum> checksum = algorithm.map(ChecksumAlgorithm::start);
        long left = range.count();
        try (InputStream in = object.read(range.first(), range.count())) {
            var buffer = new byte[Math.clamp(left, 1, BUFFER_BYTES)];
            while (left > 0) {
                int count = in.read(buffer, 0, (int) Math.min(left, buffer.length));
                if (count < 0) {
                    throw new IOException("an object is " + left + " bytes too short");
                }
                md5.update(buffer, 0, count);
                checksum.ifPresent(each -> each.update(buffer, 0, count));
                out.write(buffer, 0, count);
                left -= count;
            }
        }
        return new Copied(HexFormat.of().formatHex(md5.value()), algorithm.flatMap(
                each -> checksum.map(value -> ObjectChecksum.of(each, value.value()))));
    }

    @Override
    public void close() {
        object.close();
        use.close();
    }
}
