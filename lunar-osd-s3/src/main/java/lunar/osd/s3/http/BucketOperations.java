package lunar.osd.s3.http;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.s3.bucket.Bucket;
import lunar.osd.s3.bucket.Buckets;
import lunar.osd.s3.protocol.HttpTime;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.s3.protocol.XmlElement;
import lunar.osd.s3.protocol.XmlWriter;

/** Operations on buckets as a whole. */
final class BucketOperations {
    private static final System.Logger LOG = System.getLogger("lunar.osd.s3");
    private static final int MAX_DELETED = 1000;

    private final Buckets buckets;
    private final Limits limits;

    BucketOperations(Buckets buckets, Limits limits) {
        this.buckets = buckets;
        this.limits = limits;
    }

    /** ListBuckets. */
    void list(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("max-buckets", "prefix", "continuation-token");
        String prefix = request.parameter("prefix");
        String after = request.parameter("continuation-token");
        int max = request.number("max-buckets", 1, 10_000, 10_000);
        XmlWriter xml = XmlWriter.document("ListAllMyBucketsResult");
        owner(xml, "Owner").begin("Buckets");
        int count = 0;
        String last = "";
        boolean more = false;
        for (Bucket each : buckets.all()) {
            if (!each.name().startsWith(prefix) || each.name().compareTo(after) <= 0) {
                continue;
            }
            if (count == max) {
                more = true;
                break;
            }
            xml.begin("Bucket").text("Name", each.name())
                    .text("CreationDate", HttpTime.document(each.createdMs())).end();
            last = each.name();
            count++;
        }
        xml.end();
        if (more) {
            xml.text("ContinuationToken", last);
        }
        response.document(xml);
    }

    static XmlWriter owner(XmlWriter xml, String element) {
        return xml.begin(element).text("ID", "lunar").text("DisplayName", "lunar").end();
    }

    /** CreateBucket. */
    void create(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters();
        if (request.head().lengthHeader("content-length").orElse(0L) > 0) {
            XmlElement configuration = XmlElement.parse(
                    request.body().document(limits.maxDocumentBytes()),
                    "CreateBucketConfiguration");
            if (configuration.children().stream()
                    .anyMatch(each -> !each.name().equals("LocationConstraint"))) {
                throw new S3Exception(S3Error.NOT_IMPLEMENTED);
            }
        }
        var _ = buckets.create(request.bucket());
        response.header("Location", "/" + request.bucket()).empty(200);
    }

    /** HeadBucket. */
    void head(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters();
        try (Bucket.Use _ = buckets.find(request.bucket()).use()) {
            response.empty(200);
        }
    }

    /** GetBucketLocation: no location is the first region. */
    void location(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("location");
        try (Bucket.Use _ = buckets.find(request.bucket()).use()) {
            response.document(XmlWriter.document("LocationConstraint"));
        }
    }

    /** DeleteBucket. */
    void delete(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters();
        buckets.remove(request.bucket());
        response.empty(204);
    }

    /** DeleteObjects. */
    void deleteObjects(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("delete");
        Bucket bucket = buckets.find(request.bucket());
        XmlElement document = XmlElement
                .parse(request.body().document(limits.maxDocumentBytes()), "Delete");
        var keys = new ArrayList<String>();
        for (XmlElement each : document.all("Object")) {
            String key = each.textOf("Key")
                    .orElseThrow(() -> new S3Exception(S3Error.MALFORMED_XML));
            if (each.children().size() > 1) {
                throw new S3Exception(S3Error.NOT_IMPLEMENTED,
                        "Versions and conditions of single keys are not supported.");
            }
            keys.add(key);
        }
        if (keys.isEmpty() || keys.size() > MAX_DELETED) {
            throw new S3Exception(S3Error.MALFORMED_XML);
        }
        boolean quiet = document.textOf("Quiet").orElse("").equals("true");
        try (Bucket.Use _ = bucket.use()) {
            response.document(deleteAll(bucket, keys, quiet));
        }
    }

    private static XmlWriter deleteAll(Bucket bucket, List<String> keys, boolean quiet) {
        XmlWriter xml = XmlWriter.document("DeleteResult");
        for (String key : keys) {
            try {
                RequestTarget.checkKey(key);
                bucket.delete(key);
                if (!quiet) {
                    xml.begin("Deleted").text("Key", key).end();
                }
            } catch (S3Exception e) {
                error(xml, key, e.error());
            } catch (IOException e) {
                LOG.log(System.Logger.Level.WARNING, "a key was not deleted", e);
                error(xml, key, S3Error.INTERNAL_ERROR);
            }
        }
        return xml;
    }

    private static void error(XmlWriter xml, String key, S3Error error) {
        xml.begin("Error").text("Key", key).text("Code", error.code())
                .text("Message", error.message()).end();
    }
}
