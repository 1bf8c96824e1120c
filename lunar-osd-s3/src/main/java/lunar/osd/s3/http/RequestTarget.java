package lunar.osd.s3.http;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;

/**
 * The bucket and the key of a request: from its path, or the bucket from its Host ({@code bucket.domain}). A key is any
 * text: slashes and dots in it mean nothing.
 *
 * @param bucket name of the bucket; empty if the request concerns the service
 * @param key the key; empty if the request concerns the bucket
 */
record RequestTarget(String bucket, String key) {
    /** @param domains names of this server whose subdomains are buckets */
    static RequestTarget of(RequestHead head, List<String> domains) throws S3Exception {
        String path = head.path();
        if (!path.startsWith("/")) {
            throw new S3Exception(S3Error.INVALID_URI);
        }
        String rest = path.substring(1);
        Optional<String> inHost = bucketOf(head.header("host").orElse(""), domains);
        if (inHost.isPresent()) {
            return checked(inHost.get(), rest);
        }
        int slash = rest.indexOf('/');
        return slash < 0
                ? checked(rest, "")
                : checked(rest.substring(0, slash), rest.substring(slash + 1));
    }

    private static RequestTarget checked(String bucket, String key) throws S3Exception {
        checkKey(key);
        if (bucket.isEmpty() && !key.isEmpty()) {
            throw new S3Exception(S3Error.INVALID_URI);
        }
        return new RequestTarget(bucket, key);
    }

    /** Refuses a key that is too long. */
    static void checkKey(String key) throws S3Exception {
        if (key.getBytes(StandardCharsets.UTF_8).length > Limits.MAX_KEY_BYTES) {
            throw new S3Exception(S3Error.KEY_TOO_LONG);
        }
    }

    private static Optional<String> bucketOf(String host, List<String> domains) {
        String name = host.replaceFirst(":\\d*$", "").toLowerCase(Locale.ROOT);
        return domains.stream().map(domain -> '.' + domain.toLowerCase(Locale.ROOT))
                .filter(domain -> name.endsWith(domain) && name.length() > domain.length())
                .map(domain -> name.substring(0, name.length() - domain.length())).findFirst();
    }
}
