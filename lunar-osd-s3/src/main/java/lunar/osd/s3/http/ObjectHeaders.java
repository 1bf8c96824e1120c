package lunar.osd.s3.http;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;

/** Headers that an object keeps, and headers that a request may have at all. */
final class ObjectHeaders {
    static final String METADATA = "x-amz-meta-";

    private static final Set<String> KEPT = Set.of("content-type", "cache-control",
            "content-disposition", "content-encoding", "content-language", "expires");
    /** Headers that are understood, or may be ignored; others change what a request means. */
    private static final Set<String> KNOWN = Set.of("x-amz-date", "x-amz-content-sha256",
            "x-amz-decoded-content-length", "x-amz-trailer", "x-amz-user-agent",
            "x-amz-sdk-checksum-algorithm", "x-amz-checksum-algorithm", "x-amz-checksum-mode",
            "x-amz-checksum-crc32", "x-amz-checksum-crc32c", "x-amz-checksum-crc64nvme",
            "x-amz-checksum-sha1", "x-amz-checksum-sha256", "x-amz-checksum-type",
            "x-amz-mp-object-size", "x-amz-copy-source", "x-amz-copy-source-range",
            "x-amz-copy-source-if-match", "x-amz-copy-source-if-none-match",
            "x-amz-copy-source-if-modified-since", "x-amz-copy-source-if-unmodified-since",
            "x-amz-metadata-directive", "x-amz-request-payer", "x-amz-api-version",
            "x-amz-te", "x-amz-optional-object-attributes");
    /** Headers with values that mean what is done here anyway. */
    private static final Map<String, Set<String>> HARMLESS = Map.of(
            "x-amz-acl", Set.of("private", "bucket-owner-full-control"),
            "x-amz-storage-class", Set.of("STANDARD"),
            "x-amz-tagging-directive", Set.of("COPY"),
            "x-amz-object-ownership", Set.of("BucketOwnerEnforced"));
    private static final Map<String, String> OVERRIDES = Map.of(
            "response-content-type", "content-type",
            "response-cache-control", "cache-control",
            "response-content-disposition", "content-disposition",
            "response-content-encoding", "content-encoding",
            "response-content-language", "content-language",
            "response-expires", "expires");

    private ObjectHeaders() {}

    /** Refuses a request with a header that has a meaning that this server does not know. */
    static void check(RequestHead head) throws S3Exception {
        for (String name : head.headers().keySet()) {
            if (!name.startsWith("x-amz-") || name.startsWith(METADATA) || KNOWN.contains(name)) {
                continue;
            }
            Set<String> values = HARMLESS.getOrDefault(name, Set.of());
            if (!values.contains(head.header(name).orElse(""))) {
                throw new S3Exception(name.equals("x-amz-storage-class")
                        ? S3Error.INVALID_STORAGE_CLASS
                        : S3Error.NOT_IMPLEMENTED,
                        "The header " + name + " with this value is not supported.");
            }
        }
    }

    /** Returns the headers of a request that the object keeps. */
    static Map<String, String> kept(RequestHead head) throws S3Exception {
        var kept = new TreeMap<String, String>();
        int metadataBytes = 0;
        int keptBytes = 0;
        for (String name : head.headers().keySet()) {
            String value = String.join(",", head.headers().get(name)).strip();
            if (name.startsWith(METADATA)) {
                metadataBytes += name.length() - METADATA.length() + value.length();
            } else if (KEPT.contains(name)) {
                keptBytes += value.length();
            } else {
                continue;
            }
            if (name.equals("content-encoding")) {
                value = withoutChunked(value);
            }
            if (!value.isEmpty() || name.startsWith(METADATA)) {
                kept.put(name, value);
            }
        }
        if (metadataBytes > Limits.MAX_METADATA_BYTES || keptBytes > Limits.MAX_KEPT_BYTES) {
            throw new S3Exception(S3Error.METADATA_TOO_LARGE);
        }
        return kept;
    }

    /** The encoding of the transfer is none of the object. */
    private static String withoutChunked(String encodings) {
        return Arrays.stream(encodings.split(",", -1)).map(String::strip)
                .filter(each -> !each.equals("aws-chunked")).collect(Collectors.joining(","));
    }

    /** Returns the parameters with which a reader replaces headers of its response. */
    static String[] overrides() {
        return OVERRIDES.keySet().toArray(String[]::new);
    }

    /** Returns the headers of a response: those that the object keeps, or the reader wants. */
    static Map<String, String> ofResponse(Map<String, String> kept, S3Request request)
            throws S3Exception {
        var headers = new HashMap<>(kept);
        headers.putIfAbsent("content-type", "binary/octet-stream");
        for (var each : OVERRIDES.entrySet()) {
            if (request.has(each.getKey())) {
                String value = request.parameter(each.getKey());
                if (value.chars().anyMatch(c -> c < ' ' || c > 0xff || c == 0x7f)) {
                    throw new S3Exception(S3Error.INVALID_ARGUMENT);
                }
                headers.put(each.getValue(), value);
            }
        }
        return headers;
    }
}
