package lunar.osd.s3.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.LostWritesException;
import lunar.osd.s3.backend.StoreBackend;
import lunar.osd.s3.checksum.ChecksumAlgorithm;
import lunar.osd.s3.checksum.RunningChecksum;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.wire.ObjectId;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class MultipartUploadsTest {
    private static final AtomicLong TIME = new AtomicLong(1_795_000_000_000L);
    /** Time passes whenever it is asked for. */
    private static final InstantSource CLOCK = () -> Instant.ofEpochMilli(TIME.addAndGet(1000));
    private static final String[] PARTS = {"a".repeat(5000), "", "b".repeat(7), "c"};

    /** Changes of a completion before the record of the head is set, and until it has been. */
    private static final int BEFORE_HEAD = 6;
    private static final int AFTER_HEAD = 7;

    private final StoreBackend backend = new StoreBackend();

    private static Buckets open(StoreBackend backend) throws IOException {
        return Buckets.open(backend, true, CLOCK, Runnable::run);
    }

    private static Upload create(Bucket bucket) throws IOException {
        return bucket.multipart()
                .create(new UploadRecord("key", 1_000, Map.of("content-type", "text/plain"),
                        Optional.empty()));
    }

    private static String md5(String data) {
        RunningChecksum md5 = ChecksumAlgorithm.startMd5();
        byte[] bytes = data.getBytes(StandardCharsets.UTF_8);
        md5.update(bytes, 0, bytes.length);
        return HexFormat.of().formatHex(md5.value());
    }

    private static void putPart(Bucket bucket, Upload upload, int number, String data)
            throws IOException, S3Exception {
        try (DataWriter out = bucket.multipart().writePart(upload, number)) {
            out.write(data.getBytes(StandardCharsets.UTF_8));
            var _ = bucket.multipart().commitPart(upload, number, out, md5(data), 2_000,
                    Optional.empty());
        }
    }

    private static void putParts(Bucket bucket, Upload upload) throws IOException, S3Exception {
        for (int i = 0; i < PARTS.length; i++) {
            putPart(bucket, upload, i + 1, PARTS[i]);
        }
    }

    private static List<Completion.Named> named() {
        var named = new ArrayList<Completion.Named>();
        for (int i = 0; i < PARTS.length; i++) {
            named.add(new Completion.Named(i + 1, md5(PARTS[i]), List.of()));
        }
        return named;
    }

    private static ObjectRecord complete(Bucket bucket, Upload upload,
            List<Completion.Named> named) throws IOException, S3Exception {
        return bucket.multipart().complete(upload,
                new Completion(named, Completion.Expected.NOTHING), 0, 3_000, WriteCondition.NONE);
    }

    private static String get(Bucket bucket) throws IOException, S3Exception {
        try (OpenObject object = bucket.open("key");
                InputStream in = object.read(0, object.record().length())) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static void assertError(S3Error error,
            ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(S3Exception.class,
                e -> assertThat(e.error()).isEqualTo(error));
    }

    @Test
    void shouldMakePartsTheObject() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        Upload upload = create(bucket);
        putPart(bucket, upload, 3, "replaced");
        putParts(bucket, upload);
        putPart(bucket, upload, 9, "not used");
        ObjectRecord object = complete(bucket, upload, named());
        String all = String.join("", PARTS);
        assertThat(get(bucket)).isEqualTo(all);
        assertThat(object.length()).isEqualTo(all.length());
        assertThat(object.etag()).endsWith("-4").hasSize(34);
        try (OpenObject open = bucket.open("key"); InputStream in = open.read(4998, 5)) {
            assertThat(in.readAllBytes()).asString().isEqualTo("aabbb");
        }
        assertThat(bucket.multipart().list()).isEmpty();
        assertThat(backend.count(Layout.UPLOADS, Layout.DATA)).isZero();
        assertThat(backend.count(Layout.DATA, Layout.HEADS)).isEqualTo(4); // with the manifest
        bucket.delete("key");
        assertThat(backend.count(Layout.DATA, Layout.HEADS)).isZero();
    }

    @Test
    void shouldRefuseWrongParts() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        Upload upload = create(bucket);
        putParts(bucket, upload);
        List<Completion.Named> right = named();
        assertError(S3Error.INVALID_PART_ORDER,
                () -> complete(bucket, upload, List.of(right.get(1), right.get(0))));
        assertError(S3Error.INVALID_PART_ORDER,
                () -> complete(bucket, upload, List.of(right.get(1), right.get(1))));
        assertError(S3Error.INVALID_PART, () -> complete(bucket, upload,
                List.of(new Completion.Named(1, md5("other"), List.of()))));
        assertError(S3Error.INVALID_PART, () -> complete(bucket, upload,
                List.of(new Completion.Named(7, md5("other"), List.of()))));
        assertError(S3Error.MALFORMED_XML, () -> complete(bucket, upload, List.of()));
        assertError(S3Error.ENTITY_TOO_SMALL, () -> bucket.multipart().complete(upload,
                new Completion(right, Completion.Expected.NOTHING),
                5001, 0, WriteCondition.NONE));
        assertError(S3Error.NO_SUCH_KEY, () -> bucket.find("key"));
        assertThat(complete(bucket, upload, right).length()).isEqualTo(5008);
        assertError(S3Error.NO_SUCH_UPLOAD, () -> complete(bucket, upload, right));
        assertError(S3Error.NO_SUCH_UPLOAD, () -> putPart(bucket, upload, 1, "late"));
        assertThat(bucket.multipart().repeat("key", upload.id())).isPresent();
    }

    @Test
    void shouldFindAndAbortUploadsAfterRestart() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        Upload upload = create(bucket);
        putParts(bucket, upload);
        try (DataWriter lost = bucket.multipart().writePart(upload, 5)) {
            lost.write(new byte[5000]);
            lost.keep(); // the process ends here
        }
        StoreBackend after = backend.restarted();
        Bucket again = open(after).find("bucket");
        assertThat(again.list(new Listing.Request("", "", "", 10)).objects()).isEmpty(); // sweeps
        assertThat(after.count(Layout.DATA, Layout.HEADS)).isEqualTo(3);
        assertThat(again.multipart().list()).singleElement().satisfies(listed -> {
            assertThat(listed.id()).isEqualTo(upload.id());
            assertThat(listed.record().key()).isEqualTo("key");
        });
        Upload found = again.multipart().find("key", upload.id());
        assertThat(found.parts()).hasSize(PARTS.length).isEqualTo(upload.parts());
        again.multipart().abort(found);
        assertThat(again.multipart().list()).isEmpty();
        assertThat(after.count(Layout.UPLOADS, Layout.HEADS)).isZero();
        assertError(S3Error.NO_SUCH_UPLOAD, () -> again.multipart().find("key", upload.id()));
        assertError(S3Error.NO_SUCH_UPLOAD, () -> again.multipart().find("key", "../../etc"));
    }

    @Test
    void shouldRemoveUploadsWithBucket() throws IOException, S3Exception {
        Buckets buckets = open(backend);
        Bucket bucket = buckets.create("bucket");
        putParts(bucket, create(bucket));
        buckets.remove("bucket");
        assertThat(backend.count(0, Long.MAX_VALUE)).isZero();
    }

    /**
     * The device fails at each change of a completion in turn; after a restart the upload is there, or the object; a
     * repeated completion has the object, an abort then leaves it alone, and nothing else is left.
     */
    @Test
    void shouldCompleteOnceWhateverFails() throws IOException, S3Exception {
        for (StoreBackend.Failure how : StoreBackend.Failure.values()) {
            boolean failed = true;
            for (int change = 0; failed; change++) {
                var device = new StoreBackend();
                Bucket bucket = open(device).create("bucket");
                Upload upload = create(bucket);
                putParts(bucket, upload);
                device.failAfter(change, how);
                boolean acknowledged = true;
                try {
                    var _ = complete(bucket, upload, named());
                } catch (IOException _) {
                    acknowledged = false;
                }
                failed = device.hasFailed();
                checkAfterRestart(device.restarted(), upload.id(), acknowledged, change % 2 == 0);
            }
        }
    }

    private static void checkAfterRestart(StoreBackend device, String uploadId,
            boolean acknowledged, boolean repeats) throws IOException, S3Exception {
        Bucket bucket = open(device).find("bucket");
        List<Listing.Item> keys = bucket.list(new Listing.Request("", "", "", 10)).objects();
        boolean exists = !keys.isEmpty();
        boolean pending = !bucket.multipart().list().isEmpty();
        assertThat(exists || pending).isTrue();
        if (acknowledged) {
            assertThat(exists).isTrue();
        }
        if (pending) {
            Upload found = bucket.multipart().find("key", uploadId);
            if (repeats) {
                assertThat(complete(bucket, found, named()).length()).isEqualTo(5008);
                exists = true;
            } else {
                bucket.multipart().abort(found);
            }
        }
        if (exists) {
            assertThat(get(bucket)).isEqualTo(String.join("", PARTS));
        }
        assertThat(bucket.multipart().list()).isEmpty();
        Bucket last = open(device.restarted()).find("bucket");
        assertThat(last.list(new Listing.Request("", "", "", 10)).objects())
                .hasSize(exists ? 1 : 0);
        assertThat(device.count(Layout.DATA, Layout.HEADS)).isEqualTo(exists ? 4 : 0);
        assertThat(device.count(Layout.UPLOADS, Layout.DATA)).isZero();
    }

    /** Completes an upload on a device that fails before a change, and restarts. */
    private Bucket restartedInCompletion(Upload upload, Bucket bucket, int change)
            throws IOException, S3Exception {
        putParts(bucket, upload);
        backend.failAfter(change, StoreBackend.Failure.BEFORE);
        assertThatThrownBy(() -> complete(bucket, upload, named())).isInstanceOf(IOException.class);
        backend.failAfter(Integer.MAX_VALUE, StoreBackend.Failure.BEFORE);
        return open(backend).find("bucket");
    }

    @Test
    void shouldRefuseCompletionWhosePartsAreGone() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        Upload upload = create(bucket);
        Bucket again = restartedInCompletion(upload, bucket, BEFORE_HEAD);
        Upload found = again.multipart().find("key", upload.id());
        long partition = backend.partitions(List.of()).getFirst().id();
        backend.remove(new ObjectId(partition, found.parts().get(1).data()));
        assertError(S3Error.INVALID_PART, () -> complete(again, found, named()));
        again.multipart().abort(found);
        assertThat(backend.count(Layout.UPLOADS, Layout.DATA)).isZero();
    }

    @Test
    void shouldRefusePartsOfUploadThatIsAnObject() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        Upload upload = create(bucket);
        Bucket again = restartedInCompletion(upload, bucket, AFTER_HEAD);
        Upload found = again.multipart().find("key", upload.id());
        assertError(S3Error.NO_SUCH_UPLOAD, () -> putPart(again, found, 1, "late"));
        assertThat(get(again)).isEqualTo(String.join("", PARTS));
    }

    @Test
    void shouldEndUploadWhenItsObjectIsReplacedOrRemoved() throws IOException, S3Exception {
        for (boolean removes : new boolean[]{false, true}) {
            Bucket bucket = open(backend).create(removes ? "bucket" : "other-bucket");
            Upload upload = create(bucket);
            putParts(bucket, upload);
            backend.failAfter(AFTER_HEAD, StoreBackend.Failure.BEFORE);
            assertThatThrownBy(() -> complete(bucket, upload, named()))
                    .isInstanceOf(IOException.class);
            backend.failAfter(Integer.MAX_VALUE, StoreBackend.Failure.BEFORE);
            Bucket again = open(backend).find(bucket.name());
            Upload found = again.multipart().find("key", upload.id());
            try (OpenObject reader = again.open("key")) { // keeps the data for a while
                assertThat(reader.record().length()).isEqualTo(5008);
                if (removes) {
                    again.delete("key");
                } else {
                    replace(again);
                }
                assertThatThrownBy(() -> complete(again, found, named())).isInstanceOfAny(
                        IOException.class, S3Exception.class);
                assertError(S3Error.NO_SUCH_UPLOAD,
                        () -> again.multipart().find("key", upload.id()));
            }
            assertThat(backend.count(Layout.UPLOADS, Layout.DATA)).isZero();
        }
    }

    private static void replace(Bucket bucket) throws IOException, S3Exception {
        try (DataWriter out = bucket.write("key")) {
            out.write(new byte[10]);
            var _ = bucket.commit("key", out, new ObjectRecord(0, false, 0, 0, "", Map.of(),
                    Optional.empty(), 0), WriteCondition.NONE);
        }
    }

    @Test
    void shouldFlushObjectOfCompletionThatIsRepeated() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        Upload upload = create(bucket);
        Bucket again = restartedInCompletion(upload, bucket, AFTER_HEAD);
        var flushed = new ArrayList<ObjectId>();
        backend.beforeFlush(flushed::add);
        Upload found = again.multipart().find("key", upload.id());
        assertThat(complete(again, found, named()).length()).isEqualTo(5008);
        assertThat(flushed).anyMatch(object -> object.object() >= Layout.HEADS);
    }

    @Test
    void shouldFlushObjectOfUploadThatIsAborted() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        Upload upload = create(bucket);
        Bucket again = restartedInCompletion(upload, bucket, AFTER_HEAD);
        var flushed = new ArrayList<ObjectId>();
        backend.beforeFlush(flushed::add);
        again.multipart().abort(again.multipart().find("key", upload.id()));
        assertThat(flushed).anyMatch(object -> object.object() >= Layout.HEADS);
        flushed.clear();
        assertThat(again.multipart().repeat("key", upload.id())).isPresent();
        assertThat(flushed).anyMatch(object -> object.object() >= Layout.HEADS);
        assertThat(again.multipart().repeat("key", "0")).isEmpty();
        assertThat(get(again)).isEqualTo(String.join("", PARTS));
    }

    /** The completion would acknowledge an object whose parts the abort removes. */
    @Test
    void shouldNotCompleteUploadThatIsBeingAborted() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        Upload upload = create(bucket);
        putParts(bucket, upload);
        var completions = new AtomicLong();
        backend.beforeRemoval(object -> {
            if (object.object() < Layout.DATA) {
                completions.incrementAndGet();
                assertError(S3Error.NO_SUCH_UPLOAD, () -> complete(bucket,
                        bucket.multipart().find("key", upload.id()), named()));
            }
        });
        bucket.multipart().abort(upload);
        assertThat(completions).hasValue(1);
        assertError(S3Error.NO_SUCH_KEY, () -> bucket.find("key"));
    }

    @Test
    void shouldKeepAPartWhoseReplacementFails() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        Upload upload = create(bucket);
        putPart(bucket, upload, 1, "a");
        assertThat(lostAt(backend, 1, () -> putPart(bucket, upload, 1, "b"))).isTrue();
        Bucket again = open(backend).find("bucket");
        for (Bucket each : List.of(again, bucket)) {
            assertThat(each.multipart().find("key", upload.id()).parts().get(1))
                    .extracting(PartRecord::etag).isEqualTo(md5("a"));
        }
        var _ = complete(bucket, upload, List.of(new Completion.Named(1, md5("a"), List.of())));
        assertThat(get(bucket)).isEqualTo("a");
    }

    /** The device loses power before each flush of a part and of a completion in turn. */
    @Test
    void shouldNotCompleteWithAPartThatTheDeviceMayHaveLost() throws IOException, S3Exception {
        boolean lost = true;
        int flushes = 0;
        for (; lost; flushes++) {
            var device = new StoreBackend();
            Bucket bucket = open(device).create("bucket");
            Upload upload = create(bucket);
            putParts(bucket, upload);
            lost = lostAt(device, flushes, () -> putPart(bucket, upload, 4, "d"));
            if (lost) {
                // The record of the old part may be back: a completion has neither, until it is sent again.
                putPart(bucket, upload, 4, PARTS[3]);
            }
        }
        assertThat(flushes).isEqualTo(3);

        lost = true;
        for (flushes = 0; lost; flushes++) {
            var device = new StoreBackend();
            Bucket bucket = open(device).create("bucket");
            Upload upload = create(bucket);
            putParts(bucket, upload);
            lost = lostAt(device, flushes, () -> complete(bucket, upload, named()));
            if (lost) {
                complete(bucket, upload, named());
            }
            assertThat(get(bucket)).isEqualTo(String.join("", PARTS));
        }
        assertThat(flushes).isEqualTo(5);
    }

    @Test
    void shouldForgetAPartWhoseRecordMayBeLost() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        Upload upload = create(bucket);
        assertThat(lostAt(backend, 1, () -> putPart(bucket, upload, 1, "a"))).isTrue();
        assertThat(upload.parts()).isEmpty();
        assertError(S3Error.INVALID_PART, () -> complete(bucket, upload,
                List.of(new Completion.Named(1, md5("a"), List.of()))));
    }

    private static boolean lostAt(StoreBackend device, int flush, ThrowingCallable call) {
        var left = new AtomicLong(flush);
        device.beforeFlush(_ -> {
            if (left.getAndDecrement() == 0) {
                device.reportLoss();
            }
        });
        Throwable thrown = catchThrowable(call);
        device.beforeFlush(_ -> {});
        if (thrown != null) {
            assertThat(thrown).isInstanceOf(LostWritesException.class);
        }
        assertThat(thrown != null).isEqualTo(left.get() < 0);
        return thrown != null;
    }
}
