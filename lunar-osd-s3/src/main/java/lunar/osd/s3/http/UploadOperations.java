package lunar.osd.s3.http;

import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import lunar.osd.s3.bucket.Bucket;
import lunar.osd.s3.bucket.Buckets;
import lunar.osd.s3.bucket.Completion;
import lunar.osd.s3.bucket.DataWriter;
import lunar.osd.s3.bucket.MultipartUploads;
import lunar.osd.s3.bucket.ObjectRecord;
import lunar.osd.s3.bucket.PartRecord;
import lunar.osd.s3.bucket.Upload;
import lunar.osd.s3.bucket.UploadRecord;
import lunar.osd.s3.bucket.WriteCondition;
import lunar.osd.s3.checksum.ChecksumAlgorithm;
import lunar.osd.s3.checksum.MultipartChecksum;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.osd.s3.protocol.ByteRange;
import lunar.osd.s3.protocol.HttpTime;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.s3.protocol.XmlElement;
import lunar.osd.s3.protocol.XmlWriter;

/** Multipart uploads. */
final class UploadOperations {
    private static final int MAX_PARTS = 10_000;

    private final Buckets buckets;
    private final Limits limits;
    private final InstantSource clock;

    UploadOperations(Buckets buckets, Limits limits, InstantSource clock) {
        this.buckets = buckets;
        this.limits = limits;
        this.clock = clock;
    }

    /** CreateMultipartUpload. */
    void create(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("uploads");
        Bucket bucket = buckets.find(request.bucket());
        Map<String, String> headers = ObjectHeaders.kept(request.head());
        Optional<MultipartChecksum> checksum = ChecksumHeaders.ofUpload(request.head());
        try (Bucket.Use _ = bucket.use()) {
            Upload upload = bucket.multipart().create(
                    new UploadRecord(request.key(), clock.millis(), headers, checksum));
            if (checksum.isPresent()) {
                response.header(ChecksumHeaders.ALGORITHM, checksum.get().algorithm().name());
                response.header(ChecksumHeaders.TYPE, checksum.get().type().name());
            }
            response.document(XmlWriter.document("InitiateMultipartUploadResult")
                    .text("Bucket", request.bucket()).text("Key", request.key())
                    .text("UploadId", upload.id()));
        }
    }

    /** UploadPart. */
    void putPart(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("uploadId", "partNumber");
        int number = request.number("partNumber", 1, MAX_PARTS, 0);
        Bucket bucket = buckets.find(request.bucket());
        try (Bucket.Use _ = bucket.use()) {
            MultipartUploads uploads = bucket.multipart();
            Upload upload = uploads.find(request.key(), request.parameter("uploadId"));
            try (DataWriter out = uploads.writePart(upload, number)) {
                RequestBody.Received received = request.body().copyTo(out,
                        limits.maxObjectBytes(), algorithm(upload));
                PartRecord part = uploads.commitPart(upload, number, out, received.md5(),
                        clock.millis(), received.checksum());
                if (part.checksum().isPresent()) {
                    response.header(part.checksum().get().algorithm().header(),
                            part.checksum().get().value());
                }
                response.header("ETag", ObjectOperations.quoted(part.etag())).empty(200);
            }
        }
    }

    /** UploadPartCopy. */
    void copyPart(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("uploadId", "partNumber");
        int number = request.number("partNumber", 1, MAX_PARTS, 0);
        Bucket bucket = buckets.find(request.bucket());
        try (Bucket.Use _ = bucket.use()) {
            MultipartUploads uploads = bucket.multipart();
            Upload upload = uploads.find(request.key(), request.parameter("uploadId"));
            try (CopySource source = CopySource.open(request.head(), buckets);
                    DataWriter out = uploads.writePart(upload, number)) {
                CopySource.Copied copied = source.copyTo(out,
                        range(request, source.record().length()), algorithm(upload));
                PartRecord part = uploads.commitPart(upload, number, out, copied.md5(),
                        clock.millis(), copied.checksum());
                response.document(CopyOperations.result("CopyPartResult", part.etag(),
                        part.modifiedMs(), part.checksum()));
            }
        }
    }

    private static Optional<ChecksumAlgorithm> algorithm(Upload upload) {
        return upload.record().checksum().map(MultipartChecksum::algorithm);
    }

    private static ByteRange range(S3Request request, long length) throws S3Exception {
        Optional<String> header = request.head().header("x-amz-copy-source-range");
        Optional<ByteRange> range = header.isEmpty()
                ? Optional.of(new ByteRange(0, length))
                : ByteRange.parse(header.get(), length);
        return range.orElseThrow(() -> new S3Exception(S3Error.INVALID_ARGUMENT));
    }

    /** CompleteMultipartUpload. */
    void complete(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("uploadId");
        Bucket bucket = buckets.find(request.bucket());
        Completion.Expected expected = ChecksumHeaders.ofCompletion(request.head());
        var completion = new Completion(parts(XmlElement.parse(
                request.body().documentWithoutChecksum(limits.maxDocumentBytes()),
                "CompleteMultipartUpload")), expected);
        WriteCondition condition = WriteCondition.of(request.head());
        String uploadId = request.parameter("uploadId");
        try (Bucket.Use _ = bucket.use()) {
            ObjectRecord object = complete(bucket, request.key(), uploadId, completion, condition);
            XmlWriter xml = XmlWriter.document("CompleteMultipartUploadResult")
                    .text("Location", "/" + request.bucket() + '/' + request.key())
                    .text("Bucket", request.bucket()).text("Key", request.key())
                    .text("ETag", ObjectOperations.quoted(object.etag()));
            ChecksumHeaders.write(xml, object.checksum());
            response.document(xml);
        }
    }

    private ObjectRecord complete(Bucket bucket, String key, String uploadId,
            Completion completion, WriteCondition condition)
            throws IOException, S3Exception {
        MultipartUploads uploads = bucket.multipart();
        try {
            return uploads.complete(uploads.find(key, uploadId), completion, limits.minPartBytes(),
                    clock.millis(), condition);
        } catch (S3Exception e) {
            if (e.error() == S3Error.NO_SUCH_UPLOAD) {
                // The client repeats a completion whose response it has not got.
                return uploads.repeat(key, uploadId).orElseThrow(() -> e);
            }
            throw e;
        }
    }

    private static List<Completion.Named> parts(XmlElement document) throws S3Exception {
        var parts = new ArrayList<Completion.Named>();
        for (XmlElement each : document.all("Part")) {
            String number = each.textOf("PartNumber").orElse("").strip();
            if (!number.matches("\\d{1,5}") || parts.size() >= MAX_PARTS) {
                throw new S3Exception(S3Error.MALFORMED_XML);
            }
            var checksums = new ArrayList<ObjectChecksum>();
            for (ChecksumAlgorithm algorithm : ChecksumAlgorithm.values()) {
                each.textOf(algorithm.element()).flatMap(
                        text -> ObjectChecksum.of(algorithm, text.strip()))
                        .ifPresent(checksums::add);
            }
            parts.add(new Completion.Named(Integer.parseInt(number),
                    each.textOf("ETag").orElse("").strip().replace("\"", ""), checksums));
        }
        return parts;
    }

    /** AbortMultipartUpload. */
    void abort(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("uploadId");
        Bucket bucket = buckets.find(request.bucket());
        try (Bucket.Use _ = bucket.use()) {
            MultipartUploads uploads = bucket.multipart();
            uploads.abort(uploads.find(request.key(), request.parameter("uploadId")));
            response.empty(204);
        }
    }

    /** ListParts. */
    void listParts(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("uploadId", "max-parts", "part-number-marker", "encoding-type");
        UnaryOperator<String> encoding = ListOperations.encoding(request);
        int after = request.number("part-number-marker", 0, MAX_PARTS, 0);
        int max = request.number("max-parts", 0, Integer.MAX_VALUE, Limits.MAX_LISTED);
        Bucket bucket = buckets.find(request.bucket());
        try (Bucket.Use _ = bucket.use()) {
            Upload upload = bucket.multipart().find(request.key(), request.parameter("uploadId"));
            var parts = new ArrayList<>(upload.parts().tailMap(after, false).entrySet());
            int shown = Math.min(parts.size(), Math.min(max, Limits.MAX_LISTED));
            XmlWriter xml = XmlWriter.document("ListPartsResult").text("Bucket", request.bucket())
                    .text("Key", encoding.apply(request.key())).text("UploadId", upload.id())
                    .number("PartNumberMarker", after).number("MaxParts", max);
            BucketOperations.owner(xml, "Initiator");
            BucketOperations.owner(xml, "Owner").text("StorageClass", "STANDARD");
            if (upload.record().checksum().isPresent()) {
                xml.text("ChecksumAlgorithm", upload.record().checksum().get().algorithm().name())
                        .text("ChecksumType", upload.record().checksum().get().type().name());
            }
            for (var each : parts.subList(0, shown)) {
                part(xml, each.getKey(), each.getValue());
            }
            if (shown > 0) {
                xml.number("NextPartNumberMarker", parts.get(shown - 1).getKey());
            }
            response.document(xml.bool("IsTruncated", shown < parts.size() && shown > 0));
        }
    }

    private static void part(XmlWriter xml, int number, PartRecord part) {
        xml.begin("Part").number("PartNumber", number)
                .text("LastModified", HttpTime.document(part.modifiedMs()))
                .text("ETag", ObjectOperations.quoted(part.etag())).number("Size", part.length());
        if (part.checksum().isPresent()) {
            xml.text(part.checksum().get().algorithm().element(), part.checksum().get().value());
        }
        xml.end();
    }

    /** ListMultipartUploads. */
    void list(S3Request request, Response response) throws IOException, S3Exception {
        request.allowParameters("uploads", "prefix", "max-uploads", "key-marker",
                "upload-id-marker", "encoding-type");
        UnaryOperator<String> encoding = ListOperations.encoding(request);
        String prefix = request.parameter("prefix");
        String afterKey = request.parameter("key-marker");
        String afterId = request.parameter("upload-id-marker");
        int max = Math.min(Limits.MAX_LISTED,
                request.number("max-uploads", 0, Integer.MAX_VALUE, Limits.MAX_LISTED));
        Bucket bucket = buckets.find(request.bucket());
        try (Bucket.Use _ = bucket.use()) {
            List<MultipartUploads.Listed> all = bucket.multipart().list().stream()
                    .filter(each -> each.record().key().startsWith(prefix)
                            && MultipartUploads.isBehind(each, afterKey, afterId))
                    .toList();
            int shown = Math.min(max, all.size());
            XmlWriter xml = XmlWriter.document("ListMultipartUploadsResult")
                    .text("Bucket", request.bucket()).text("KeyMarker", encoding.apply(afterKey))
                    .text("UploadIdMarker", afterId).text("Prefix", encoding.apply(prefix))
                    .number("MaxUploads", max);
            if (request.has("encoding-type")) {
                xml.text("EncodingType", "url");
            }
            for (MultipartUploads.Listed each : all.subList(0, shown)) {
                xml.begin("Upload").text("Key", encoding.apply(each.record().key()))
                        .text("UploadId", each.id());
                BucketOperations.owner(xml, "Initiator");
                BucketOperations.owner(xml, "Owner").text("StorageClass", "STANDARD")
                        .text("Initiated", HttpTime.document(each.record().initiatedMs())).end();
            }
            if (shown > 0 && shown < all.size()) {
                xml.text("NextKeyMarker", encoding.apply(all.get(shown - 1).record().key()))
                        .text("NextUploadIdMarker", all.get(shown - 1).id());
            }
            response.document(xml.bool("IsTruncated", shown > 0 && shown < all.size()));
        }
    }
}
