package lunar.osd.s3.bucket;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * Multipart uploads of a bucket. An upload is a user object without data; it has an attribute for each part, which
 * names the user object with the data. So uploads survive a restart. Thread-safe.
 */
final class Uploads {
    /** Largest number of a part. */
    static final int MAX_PARTS = 10_000;

    private static final int PAGE = 1000;
    private static final int PARTS_PAGE = 200;

    private final ObjectBackend backend;
    private final long partition;
    private final Layout layout;
    private final Map<Long, Upload> known = new ConcurrentHashMap<>();

    Uploads(ObjectBackend backend, long partition, Layout layout) {
        this.backend = backend;
        this.partition = partition;
        this.layout = layout;
    }

    Upload create(UploadRecord record) throws IOException {
        long id = layout.newUpload();
        backend.create(objectId(id), List.of(new Attribute(Layout.RECORD, record.encode())));
        var upload = new Upload(id, record, new TreeMap<>(), false);
        known.put(id, upload);
        return upload;
    }

    /** Makes an upload with its parts' records stable. */
    void flush(Upload upload, UnstableChange change) throws IOException {
        if (!change.flush(objectId(upload.object()))) {
            throw new IOException("upload " + upload.id() + " has been removed meanwhile");
        }
    }

    /**
     * Finds an upload of a key.
     *
     * @throws S3Exception if there is none
     */
    Upload find(String key, String uploadId) throws IOException, S3Exception {
        Optional<Long> id = Upload.parse(uploadId)
                .filter(each -> each >= Layout.UPLOADS && each < Layout.DATA);
        Upload upload = id.isPresent() ? find(id.get()) : null;
        if (upload == null || !upload.record().key().equals(key)) {
            throw new S3Exception(S3Error.NO_SUCH_UPLOAD);
        }
        return upload;
    }

    private synchronized @Nullable Upload find(long id) throws IOException {
        Upload upload = known.get(id);
        if (upload == null) {
            upload = load(id);
            if (upload != null) {
                known.put(id, upload);
            }
        }
        return upload;
    }

    private @Nullable Upload load(long id) throws IOException {
        Optional<List<Attribute>> found = backend.attributes(objectId(id),
                List.of(Layout.RECORD, Layout.COMPLETION));
        if (found.isEmpty() || !found.get().get(0).isSet()) {
            return null;
        }
        NavigableMap<Integer, PartRecord> parts = new TreeMap<>();
        for (int first = 1; first <= MAX_PARTS; first += PARTS_PAGE) {
            int start = first;
            List<AttributeId> ids = IntStream.range(0, PARTS_PAGE)
                    .mapToObj(i -> Layout.part(start + i)).toList();
            List<Attribute> values = backend.attributes(objectId(id), ids).orElse(List.of());
            for (int i = 0; i < values.size(); i++) {
                if (values.get(i).isSet()) {
                    parts.put(start + i, PartRecord.decode(values.get(i).value()));
                }
            }
        }
        return new Upload(id, UploadRecord.decode(found.get().get(0).value()), parts,
                found.get().get(1).isSet());
    }

    /** Sets a part; its data are stable. Called with the upload's monitor held. */
    Optional<PartRecord> put(Upload upload, int number, PartRecord part) throws IOException {
        backend.set(objectId(upload.object()),
                List.of(new Attribute(Layout.part(number), part.encode())));
        return upload.add(number, part);
    }

    /**
     * Takes back a part that may not be stable: the upload has the one again that it has replaced. Called with the
     * upload's monitor held.
     */
    void takeBack(Upload upload, int number, PartRecord part, Optional<PartRecord> replaced)
            throws IOException {
        if (upload.takeBack(number, part, replaced) && replaced.isPresent()) {
            backend.set(objectId(upload.object()),
                    List.of(new Attribute(Layout.part(number), replaced.get().encode())));
        }
    }

    /** Notes that a completion begins. Called with the upload's monitor held. */
    void begin(Upload upload, long data) throws IOException {
        upload.setCompleting();
        Bytes value = new RecordWriter(1).number(data).toBytes();
        backend.set(objectId(upload.object()), List.of(new Attribute(Layout.COMPLETION, value)));
    }

    /** Removes an upload, not its parts. Called with the upload's monitor held. */
    void remove(Upload upload) throws IOException {
        upload.end();
        remove(upload.object());
    }

    /** Removes an upload from the device first: nobody may find it there as one that has not ended. */
    private void remove(long object) throws IOException {
        try {
            backend.remove(objectId(object));
        } finally {
            known.remove(object); // if that has failed, what the device has is found again
        }
    }

    /**
     * Removes the upload that an object was, if the process ended before that: its parts go with the object. Called
     * with the lock of the key held, before the key gets another object.
     */
    void removeCompleted(long object) throws IOException {
        if (object != 0) {
            remove(object);
        }
    }

    /** Forgets what is known of uploads, before all are removed. */
    void forget() { known.clear(); }

    /** Whether data are a part of an upload in progress. */
    boolean has(DataOwner owner, long data) throws IOException {
        Optional<List<Attribute>> found = backend.attributes(objectId(owner.upload()),
                List.of(Layout.part(owner.part())));
        return found.isPresent() && found.get().get(0).isSet()
                && PartRecord.decode(found.get().get(0).value()).data() == data;
    }

    /** An upload of a list. */
    record Listed(String id, UploadRecord record) {}

    /** Returns all uploads in the order of their keys, then of their creation. */
    List<Listed> list() throws IOException {
        var all = new ArrayList<Listed>();
        List<ObjectBackend.Listed> page;
        long from = Layout.UPLOADS;
        do {
            page = backend.list(partition, from, PAGE, List.of(Layout.RECORD));
            for (ObjectBackend.Listed each : page) {
                from = each.id() + 1;
                if (from > Layout.DATA) {
                    break;
                }
                if (each.attributes().get(0).isSet()) {
                    all.add(new Listed(Upload.text(each.id()),
                            UploadRecord.decode(each.attributes().get(0).value())));
                }
            }
        } while (page.size() == PAGE && from <= Layout.DATA);
        all.sort(Comparator.comparing((Listed each) -> each.record().key(), KeyOrder.INSTANCE)
                .thenComparing(Listed::id));
        return all;
    }

    private ObjectId objectId(long id) { return new ObjectId(partition, id); }
}
