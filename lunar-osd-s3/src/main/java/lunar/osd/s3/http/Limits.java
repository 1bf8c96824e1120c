package lunar.osd.s3.http;

import java.time.Duration;

/**
 * Limits of requests.
 *
 * @param maxObjectBytes longest data of one request
 * @param minPartBytes shortest part of a multipart upload, except the last
 * @param maxDocumentBytes longest XML document of a request
 * @param clientTimeout how long a request waits for its client: to send its head, or any more data, or to receive any
 */
public record Limits(long maxObjectBytes, long minPartBytes, int maxDocumentBytes,
        Duration clientTimeout) {
    /** The limits of S3, and 30 seconds. */
    public static final Limits DEFAULT = new Limits(5L << 30, 5 << 20, 4 << 20,
            Duration.ofSeconds(30));

    static final int MAX_KEY_BYTES = 1024;
    static final int MAX_METADATA_BYTES = 2048;
    static final int MAX_KEPT_BYTES = 4096;
    static final int MAX_LISTED = 1000;
}
