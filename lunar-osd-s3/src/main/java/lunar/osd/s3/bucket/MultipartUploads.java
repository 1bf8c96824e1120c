package lunar.osd.s3.bucket;

import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.s3.checksum.ChecksumAlgorithm;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.osd.s3.checksum.RunningChecksum;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.wire.ObjectId;

/** The multipart uploads of a bucket. Thread-safe; calls that change an upload exclude each other. */
public final class MultipartUploads {
    private final Bucket bucket;
    private final Uploads uploads;
    private final DataObjects data;
    private final ObjectBackend backend;
    private final long partition;
    private final boolean flushes;

    MultipartUploads(Bucket bucket, Uploads uploads, DataObjects data, ObjectBackend backend,
            long partition, boolean flushes) {
        this.bucket = bucket;
        this.uploads = uploads;
        this.data = data;
        this.backend = backend;
        this.partition = partition;
        this.flushes = flushes;
    }

    /** An upload of a list. */
    public record Listed(String id, UploadRecord record) {}

    /** Creates an upload. */
    public Upload create(UploadRecord record) throws IOException {
        UnstableChange change = begin();
        Upload upload = uploads.create(record);
        uploads.flush(upload, change);
        return upload;
    }

    private UnstableChange begin() throws IOException {
        return UnstableChange.begin(backend, flushes);
    }

    /** Returns an upload of a key. */
    public Upload find(String key, String uploadId) throws IOException, S3Exception {
        return uploads.find(key, uploadId);
    }

    /** Returns all uploads in the order of their keys. */
    public List<Listed> list() throws IOException {
        return uploads.list().stream().map(each -> new Listed(each.id(), each.record())).toList();
    }

    /** Opens a stream that writes the data of a part to be. */
    public DataWriter writePart(Upload upload, int number) {
        return bucket.write(new DataOwner(upload.object(), number, upload.record().key()));
    }

    /** Whether an upload is behind markers in a list; without an identifier, all uploads of the key are not. */
    public static boolean isBehind(Listed upload, String key, String uploadId) {
        int order = KeyOrder.INSTANCE.compare(upload.record().key(), key);
        return key.isEmpty() || order > 0
                || (order == 0 && !uploadId.isEmpty() && upload.id().compareTo(uploadId) > 0);
    }

    /** Makes data a part of an upload; they replace an earlier part of the number. */
    public PartRecord commitPart(Upload upload, int number, DataWriter written, String etag,
            long timeMs, Optional<ObjectChecksum> checksum) throws IOException, S3Exception {
        written.finish();
        var part = new PartRecord(written.data(), written.length(), timeMs, etag, checksum);
        UnstableChange change = begin();
        Optional<PartRecord> replaced;
        synchronized (upload) {
            requireOpen(upload);
            if (isObject(upload)) {
                throw new S3Exception(S3Error.NO_SUCH_UPLOAD); // its parts are the object's
            }
            written.keep();
            replaced = uploads.put(upload, number, part);
        }
        try {
            uploads.flush(upload, change);
        } catch (IOException e) {
            takeBack(upload, number, part, replaced, e);
            throw e;
        }
        if (replaced.isPresent()) {
            data.remove(replaced.get().data());
        }
        return part;
    }

    /** Takes back a part that the device may not have: no completion may use it, but one may use what it replaced. */
    private void takeBack(Upload upload, int number, PartRecord part,
            Optional<PartRecord> replaced, IOException cause) {
        synchronized (upload) {
            try {
                uploads.takeBack(upload, number, part, replaced);
            } catch (IOException e) {
                cause.addSuppressed(e);
            }
        }
    }

    private static void requireOpen(Upload upload) throws S3Exception {
        if (upload.hasEnded()) {
            throw new S3Exception(S3Error.NO_SUCH_UPLOAD);
        }
    }

    /** Whether a completion that was begun has given the key its object. */
    private boolean isObject(Upload upload) throws IOException {
        return upload.isCompleting()
                && completed(upload.record().key(), upload.id()).isPresent();
    }

    /** Removes an upload with its parts. */
    public void abort(Upload upload) throws IOException, S3Exception {
        UnstableChange change = begin();
        NavigableMap<Integer, PartRecord> parts;
        synchronized (upload) {
            requireOpen(upload);
            if (isObject(upload)) { // the parts are the object's
                bucket.flush(upload.record().key());
                uploads.remove(upload);
                return;
            }
            parts = upload.parts();
            uploads.remove(upload);
        }
        var _ = change.flush(ObjectId.ofPartition(partition));
        for (PartRecord each : parts.values()) {
            data.remove(each.data());
        }
    }

    /** Returns the object that an upload has become, which is stable then: a completion may be repeated. */
    public Optional<ObjectRecord> repeat(String key, String uploadId) throws IOException {
        if (completed(key, uploadId).isEmpty()) {
            return Optional.empty();
        }
        bucket.flush(key);
        return completed(key, uploadId);
    }

    /** Returns the object that an upload has become, if its key still has it. */
    private Optional<ObjectRecord> completed(String key, String uploadId) throws IOException {
        try {
            ObjectRecord record = bucket.find(key);
            return record.upload() != 0 && Upload.text(record.upload()).equals(uploadId)
                    ? Optional.of(record)
                    : Optional.empty();
        } catch (S3Exception _) {
            return Optional.empty();
        }
    }

    /**
     * Makes parts the object of the key. They are not copied.
     *
     * @param minPartBytes least length of a part other than the last
     */
    public ObjectRecord complete(Upload upload, Completion completion, long minPartBytes,
            long timeMs, WriteCondition condition) throws IOException, S3Exception {
        synchronized (upload) {
            requireOpen(upload);
            String key = upload.record().key();
            if (upload.isCompleting()) {
                Optional<ObjectRecord> before = completed(key, upload.id());
                if (before.isPresent()) {
                    bucket.flush(key);
                    uploads.remove(upload);
                    return before.get();
                }
            }
            Map<Integer, PartRecord> rest = new TreeMap<>(upload.parts());
            List<PartRecord> parts = completion.select(rest, minPartBytes);
            Optional<ObjectChecksum> checksum = completion.checksum(upload.record().checksum(),
                    parts);
            if (upload.isCompleting()) {
                requireData(parts);
            }
            ObjectRecord object = commit(upload, parts, checksum, timeMs, condition);
            uploads.remove(upload);
            for (PartRecord each : rest.values()) {
                data.remove(each.data());
            }
            return object;
        }
    }

    private ObjectRecord commit(Upload upload, List<PartRecord> parts,
            Optional<ObjectChecksum> checksum, long timeMs, WriteCondition condition)
            throws IOException, S3Exception {
        String key = upload.record().key();
        var manifest = new Manifest(parts.stream().filter(part -> part.data() != 0)
                .map(part -> new Manifest.Segment(part.data(), part.length())).toList());
        try (DataWriter writer = bucket.write(key)) {
            writer.write(manifest.encode());
            writer.finish();
            UnstableChange change = begin();
            uploads.begin(upload, writer.data());
            uploads.flush(upload, change);
            long length = parts.stream().mapToLong(PartRecord::length).sum();
            return bucket.commit(key, writer, new ObjectRecord(0, true, length, timeMs,
                    etag(parts), upload.record().headers(), checksum, upload.object()),
                    condition);
        }
    }

    /**
     * A completion was begun, and the key has another object: if it has had this one in the meantime, the parts have
     * been removed with it.
     */
    private void requireData(List<PartRecord> parts) throws IOException, S3Exception {
        for (PartRecord part : parts) {
            if (part.data() != 0 && backend.attributes(new ObjectId(partition, part.data()),
                    List.of(Layout.OWNER)).isEmpty()) {
                throw new S3Exception(S3Error.INVALID_PART);
            }
        }
    }

    private static String etag(List<PartRecord> parts) {
        RunningChecksum md5 = ChecksumAlgorithm.startMd5();
        for (PartRecord part : parts) {
            byte[] one = HexFormat.of().parseHex(part.etag());
            md5.update(one, 0, one.length);
        }
        return HexFormat.of().formatHex(md5.value()) + '-' + parts.size();
    }
}
