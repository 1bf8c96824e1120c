package lunar.osd.s3.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import lunar.osd.s3.bucket.Bucket;
import lunar.osd.s3.bucket.Buckets;
import lunar.osd.s3.bucket.DataWriter;
import lunar.osd.s3.bucket.ObjectRecord;
import lunar.osd.s3.bucket.OpenObject;
import lunar.osd.s3.bucket.WriteCondition;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.osd.s3.protocol.ByteRange;
import lunar.osd.s3.protocol.Conditions;
import lunar.osd.s3.protocol.HttpTime;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;

/** Operations on objects. */
final class ObjectOperations {
    private static final int BUFFER_BYTES = 256 << 10;

    private final Buckets buckets;
    private final Limits limits;
    private final InstantSource clock;

    ObjectOperations(Buckets buckets, Limits limits, InstantSource clock) {
        this.buckets = buckets;
        this.limits = limits;
        this.clock = clock;
    }

    /** PutObject. */
    void put(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters();
        Bucket bucket = buckets.find(request.bucket());
        Map<String, String> headers = ObjectHeaders.kept(request.head());
        WriteCondition condition = WriteCondition.of(request.head());
        try (Bucket.Use _ = bucket.use(); DataWriter out = bucket.write(request.key())) {
            RequestBody.Received received = request.body().copyTo(out,
                    limits.maxObjectBytes(), Optional.empty());
            ObjectRecord record = bucket.commit(request.key(), out, new ObjectRecord(0, false, 0,
                    clock.millis(), received.md5(), headers, received.checksum(), 0), condition);
            checksum(response, record.checksum());
            response.header("ETag", quoted(record.etag())).empty(200);
        }
    }

    static String quoted(String etag) { return '"' + etag + '"'; }

    static void checksum(Response response, Optional<ObjectChecksum> checksum) {
        if (checksum.isPresent()) {
            response.header(checksum.get().algorithm().header(), checksum.get().value());
            response.header(ChecksumHeaders.TYPE, checksum.get().type().name());
        }
    }

    /** GetObject and HeadObject. */
    void get(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters(ObjectHeaders.overrides());
        Bucket bucket = buckets.find(request.bucket());
        try (Bucket.Use _ = bucket.use(); OpenObject object = bucket.open(request.key())) {
            ObjectRecord record = object.record();
            response.header("ETag", quoted(record.etag()))
                    .header("Last-Modified", HttpTime.header(record.modifiedMs()));
            switch (Conditions.of(request.head(), "").evaluate(record.etag(),
                    record.modifiedMs())) {
                case NOT_MODIFIED -> response.empty(304);
                case FAIL -> throw new S3Exception(S3Error.PRECONDITION_FAILED);
                case HOLD -> send(request, response, object);
            }
        }
    }

    private static void send(S3Request request, Response response, OpenObject object)
            throws IOException, S3Exception {
        ObjectRecord record = object.record();
        Optional<String> header = request.head().header("range")
                .filter(_ -> holdsIfRange(request, record));
        Optional<ByteRange> range = header.isEmpty()
                ? Optional.empty()
                : ByteRange.parse(header.get(), record.length());
        for (var each : ObjectHeaders.ofResponse(record.headers(), request).entrySet()) {
            response.header(each.getKey(), each.getValue());
        }
        response.header("Accept-Ranges", "bytes");
        long first = 0;
        long count = record.length();
        int status = 200;
        if (range.isPresent()) {
            first = range.get().first();
            count = range.get().count();
            status = 206;
            response.header("Content-Range", range.get().contentRange(record.length()));
        } else if (request.head().header("x-amz-checksum-mode").isPresent()) {
            checksum(response, record.checksum());
        }
        if (request.head().method().equals("HEAD")) {
            response.body(status, count).close();
            return;
        }
        // The first data are read before the response begins, so that a failure of the device can be answered.
        try (InputStream in = object.read(first, count)) {
            var buffer = new byte[Math.clamp(count, 1, BUFFER_BYTES)];
            int had = in.readNBytes(buffer, 0, (int) Math.min(count, buffer.length));
            try (OutputStream out = response.body(status, count)) {
                long left = count;
                while (had > 0) {
                    out.write(buffer, 0, had);
                    left -= had;
                    had = in.readNBytes(buffer, 0, (int) Math.min(left, buffer.length));
                }
                if (left > 0) {
                    throw new IOException("an object is " + left + " bytes too short");
                }
            }
        }
    }

    /** A range of an object that has changed is not wanted: the client gets the whole (RFC 9110, section 13.1.5). */
    private static boolean holdsIfRange(S3Request request, ObjectRecord record) {
        Optional<String> header = request.head().header("if-range");
        return header.isEmpty() || Conditions.matches(header.get(), record.etag())
                || header.get().equals(HttpTime.header(record.modifiedMs()));
    }

    /** DeleteObject. */
    void delete(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters();
        if (request.head().header("if-match").isPresent()) {
            throw new S3Exception(S3Error.NOT_IMPLEMENTED,
                    "Conditions of removals are not supported.");
        }
        Bucket bucket = buckets.find(request.bucket());
        try (Bucket.Use _ = bucket.use()) {
            bucket.delete(request.key());
            response.empty(204);
        }
    }
}
