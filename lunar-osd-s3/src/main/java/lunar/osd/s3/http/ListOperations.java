package lunar.osd.s3.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.function.UnaryOperator;
import lunar.osd.s3.bucket.Bucket;
import lunar.osd.s3.bucket.Buckets;
import lunar.osd.s3.bucket.Listing;
import lunar.osd.s3.protocol.HttpTime;
import lunar.osd.s3.protocol.PercentEncoding;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.s3.protocol.XmlWriter;

/** Lists of objects, versions 1 and 2. */
final class ListOperations {
    private final Buckets buckets;

    ListOperations(Buckets buckets) { this.buckets = buckets; }

    /** ListObjects. */
    void listV1(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("prefix", "delimiter", "marker", "max-keys", "encoding-type");
        String marker = request.parameter("marker");
        Listing.Request what = what(request, marker);
        UnaryOperator<String> encoding = encoding(request);
        Listing listing = list(request, what);
        XmlWriter xml = begin(request, what, encoding);
        xml.text("Marker", encoding.apply(marker));
        if (listing.truncated() && !what.delimiter().isEmpty()) {
            xml.text("NextMarker", encoding.apply(listing.last()));
        }
        objects(xml, listing, encoding, true);
        response.document(xml);
    }

    /** ListObjectsV2. */
    void listV2(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("list-type", "prefix", "delimiter", "continuation-token",
                "start-after", "max-keys", "encoding-type", "fetch-owner");
        String token = request.parameter("continuation-token");
        Listing.Request what = what(request,
                token.isEmpty() ? request.parameter("start-after") : decode(token));
        UnaryOperator<String> encoding = encoding(request);
        Listing listing = list(request, what);
        XmlWriter xml = begin(request, what, encoding);
        xml.number("KeyCount", listing.objects().size() + listing.commonPrefixes().size());
        if (!token.isEmpty()) {
            xml.text("ContinuationToken", token);
        }
        if (request.has("start-after")) {
            xml.text("StartAfter", encoding.apply(request.parameter("start-after")));
        }
        if (listing.truncated()) {
            xml.text("NextContinuationToken", encode(listing.last()));
        }
        objects(xml, listing, encoding, request.parameter("fetch-owner").equals("true"));
        response.document(xml);
    }

    private static Listing.Request what(S3Request request, String after) throws S3Exception {
        int max = request.number("max-keys", 0, Integer.MAX_VALUE, Limits.MAX_LISTED);
        return new Listing.Request(request.parameter("prefix"), request.parameter("delimiter"),
                after, Math.min(max, Limits.MAX_LISTED));
    }

    private Listing list(S3Request request, Listing.Request what)
            throws IOException, S3Exception {
        Bucket bucket = buckets.find(request.bucket());
        try (Bucket.Use _ = bucket.use()) {
            return bucket.list(what);
        }
    }

    /** Returns how keys are written: as they are, or percent-encoded. */
    static UnaryOperator<String> encoding(S3Request request) throws S3Exception {
        return switch (request.parameter("encoding-type")) {
            case "" -> UnaryOperator.identity();
            case "url" -> PercentEncoding::encodePath;
            default -> throw new S3Exception(S3Error.INVALID_ARGUMENT,
                    "encoding-type must be url.");
        };
    }

    private static XmlWriter begin(S3Request request, Listing.Request what,
            UnaryOperator<String> encoding) {
        XmlWriter xml = XmlWriter.document("ListBucketResult").text("Name", request.bucket())
                .text("Prefix", encoding.apply(what.prefix())).number("MaxKeys", what.max());
        if (!what.delimiter().isEmpty()) {
            xml.text("Delimiter", encoding.apply(what.delimiter()));
        }
        if (request.has("encoding-type")) {
            xml.text("EncodingType", "url");
        }
        return xml;
    }

    private static void objects(XmlWriter xml, Listing listing, UnaryOperator<String> encoding,
            boolean withOwner) {
        xml.bool("IsTruncated", listing.truncated());
        for (Listing.Item each : listing.objects()) {
            xml.begin("Contents").text("Key", encoding.apply(each.key()))
                    .text("LastModified", HttpTime.document(each.modifiedMs()))
                    .text("ETag", '"' + each.etag() + '"').number("Size", each.length())
                    .text("StorageClass", "STANDARD");
            if (withOwner) {
                BucketOperations.owner(xml, "Owner");
            }
            xml.end();
        }
        for (String each : listing.commonPrefixes()) {
            xml.begin("CommonPrefixes").text("Prefix", encoding.apply(each)).end();
        }
    }

    private static String encode(String last) {
        return Base64.getUrlEncoder().withoutPadding()
                .encodeToString(last.getBytes(StandardCharsets.UTF_8));
    }

    private static String decode(String token) throws S3Exception {
        try {
            return new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException _) {
            throw new S3Exception(S3Error.INVALID_ARGUMENT,
                    "The continuation token is not one of this server.");
        }
    }
}
