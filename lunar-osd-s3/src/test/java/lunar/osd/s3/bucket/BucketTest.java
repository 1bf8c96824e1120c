package lunar.osd.s3.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.LostWritesException;
import lunar.osd.s3.backend.StoreBackend;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.Attribute;
import lunar.scsi.Bytes;
import org.junit.jupiter.api.Test;

class BucketTest {
    private static final AtomicLong TIME = new AtomicLong(1_795_000_000_000L);
    /** Time passes whenever it is asked for. */
    private static final InstantSource CLOCK = () -> Instant.ofEpochMilli(TIME.addAndGet(1000));

    private final StoreBackend backend = new StoreBackend();

    private static Buckets open(StoreBackend backend) throws IOException {
        return Buckets.open(backend, true, CLOCK, Runnable::run);
    }

    private static void put(Bucket bucket, String key, String data)
            throws IOException, S3Exception {
        put(bucket, key, data, WriteCondition.NONE);
    }

    private static void put(Bucket bucket, String key, String data, WriteCondition condition)
            throws IOException, S3Exception {
        try (Bucket.Use _ = bucket.use(); DataWriter out = bucket.write(key)) {
            out.write(data.getBytes(StandardCharsets.UTF_8));
            var _ = bucket.commit(key, out, new ObjectRecord(0, false, 0, CLOCK.millis(),
                    "0".repeat(32), Map.of("content-type", data), Optional.empty(), 0), condition);
        }
    }

    private static String get(Bucket bucket, String key) throws IOException, S3Exception {
        try (Bucket.Use _ = bucket.use(); OpenObject object = bucket.open(key)) {
            return read(object);
        }
    }

    private static String read(OpenObject object) throws IOException {
        try (InputStream in = object.read(0, object.record().length())) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static List<String> keys(Bucket bucket) throws IOException {
        return bucket.list(new Listing.Request("", "", "", 1000)).objects().stream()
                .map(Listing.Item::key).toList();
    }

    private long dataCount() throws IOException { return backend.count(Layout.DATA, Layout.HEADS); }

    @Test
    void shouldReplaceAndRemoveObjects() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        put(bucket, "key", "old");
        put(bucket, "key", "new");
        assertThat(get(bucket, "key")).isEqualTo("new");
        assertThat(dataCount()).isEqualTo(1);
        put(bucket, "empty", "");
        assertThat(get(bucket, "empty")).isEmpty();
        bucket.delete("key");
        bucket.delete("key");
        assertThatThrownBy(() -> get(bucket, "key")).isInstanceOf(S3Exception.class);
        assertThat(dataCount()).isZero();
        assertThat(keys(open(backend).find("bucket"))).containsExactly("empty");
    }

    @Test
    void shouldKeepDataForReadersOfReplacedObject() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        put(bucket, "key", "old");
        try (OpenObject old = bucket.open("key"); OpenObject second = bucket.open("key")) {
            put(bucket, "key", "new");
            bucket.delete("key");
            second.close();
            assertThat(read(old)).isEqualTo("old");
        }
        assertThat(dataCount()).isZero();
    }

    @Test
    void shouldDiscardDataThatAreNotCommitted() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        put(bucket, "key", "old");
        try (DataWriter out = bucket.write("key")) {
            out.write(new byte[10_000]);
        }
        var exists = new WriteCondition(Optional.empty(), true);
        assertThatThrownBy(() -> put(bucket, "key", "new", exists))
                .isInstanceOfSatisfying(S3Exception.class, e -> assertThat(e.error())
                        .isEqualTo(S3Error.PRECONDITION_FAILED));
        assertThat(get(bucket, "key")).isEqualTo("old");
        assertThat(dataCount()).isEqualTo(1);
    }

    /** The device fails at each change in turn, with the change made or not; then the server starts anew. */
    @Test
    void shouldHaveOldOrNewObjectAfterFailureAtAnyChange() throws IOException, S3Exception {
        for (StoreBackend.Failure how : StoreBackend.Failure.values()) {
            int change = 0;
            boolean failed = true;
            for (; failed; change++) {
                var device = new StoreBackend();
                Bucket bucket = open(device).create("bucket");
                put(bucket, "key", "old");
                device.failAfter(change, how);
                boolean acknowledged = tryPut(bucket);
                failed = device.hasFailed();
                StoreBackend after = device.restarted();
                Buckets buckets = open(after);
                Bucket again = buckets.find("bucket");
                String found = get(again, "key");
                assertThat(found).as(how + " change " + change).isIn("old", "new");
                if (acknowledged) {
                    assertThat(found).isEqualTo("new");
                }
                assertThat(keys(again)).containsExactly("key");
                assertThat(after.count(Layout.DATA, Layout.HEADS)).isEqualTo(1);
                assertThat(get(again, "key")).isEqualTo(found);
            }
            assertThat(change).as("changes of an overwrite").isGreaterThan(4);
        }
    }

    private static boolean tryPut(Bucket bucket) throws S3Exception {
        try {
            put(bucket, "key", "new");
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    @Test
    void shouldHaveObjectOrNotAfterFailureOfRemoval() throws IOException, S3Exception {
        boolean failed = true;
        for (int change = 0; failed; change++) {
            var device = new StoreBackend();
            Bucket bucket = open(device).create("bucket");
            put(bucket, "key", "data");
            device.failAfter(change, StoreBackend.Failure.AFTER);
            boolean acknowledged = true;
            try {
                bucket.delete("key");
            } catch (IOException _) {
                acknowledged = false;
            }
            failed = device.hasFailed();
            StoreBackend after = device.restarted();
            Bucket again = open(after).find("bucket");
            List<String> keys = keys(again);
            if (acknowledged) {
                assertThat(keys).isEmpty();
            }
            assertThat(after.count(Layout.DATA, Layout.HEADS)).isEqualTo(keys.size());
            for (String key : keys) {
                assertThat(get(again, key)).isEqualTo("data");
            }
        }
    }

    @Test
    void shouldKeepIndexRightAfterFailureWithUnknownResult() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        assertThat(keys(bucket)).isEmpty();
        backend.failAfter(3, StoreBackend.Failure.AFTER); // the data, their write, their flush, the head
        assertThat(tryPut(bucket)).isFalse();
        backend.failAfter(Integer.MAX_VALUE, StoreBackend.Failure.BEFORE);
        assertThat(get(bucket, "key")).isEqualTo("new");
        assertThat(keys(bucket)).containsExactly("key");
    }

    @Test
    void shouldRemoveSeveralObjectsWithOneFlush() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        for (int i = 0; i < 5; i++) {
            put(bucket, "key" + i, "data");
        }
        backend.failAfter(4, StoreBackend.Failure.BEFORE); // 3 heads, a flush, and data that stay for the sweep
        assertThat(bucket.delete(List.of("key0", "key1", "key2", "none"))).isEmpty();
        backend.failAfter(2, StoreBackend.Failure.BEFORE); // a head, and a flush
        assertThat(bucket.delete(List.of("key3"))).isEmpty();
        backend.failAfter(0, StoreBackend.Failure.BEFORE);
        assertThat(bucket.delete(List.of("key4"))).containsOnlyKeys("key4");
        assertThatThrownBy(() -> bucket.delete("key4")).isInstanceOf(IOException.class);
        Bucket again = open(backend.restarted()).find("bucket");
        assertThat(keys(again)).containsExactly("key4");
        assertThat(dataCount()).isEqualTo(1);
    }

    @Test
    void shouldAcknowledgeObjectThatIsRemovedBeforeItsFlush() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        put(bucket, "key", "old");
        var flushed = new ArrayList<ObjectId>();
        backend.beforeFlush(object -> {
            if (object.object() >= Layout.HEADS) {
                bucket.delete("key");
                flushed.clear();
            }
            flushed.add(object);
        });
        put(bucket, "key", "new");
        assertThat(flushed).as("the removal").anyMatch(ObjectId::isPartition);
        assertThatThrownBy(() -> get(bucket, "key")).isInstanceOf(S3Exception.class);
        assertThat(dataCount()).isZero();
    }

    @Test
    void shouldFlushRemovalThatIsRepeated() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        put(bucket, "key", "data");
        backend.failAfter(1, StoreBackend.Failure.BEFORE); // the head is removed, and not flushed
        assertThatThrownBy(() -> bucket.delete("key")).isInstanceOf(IOException.class);
        backend.failAfter(Integer.MAX_VALUE, StoreBackend.Failure.BEFORE);
        var flushed = new ArrayList<ObjectId>();
        backend.beforeFlush(flushed::add);
        bucket.delete("key");
        assertThat(flushed).anyMatch(ObjectId::isPartition);
    }

    /** The device restarts before a flush, and has not kept what it was told. */
    @Test
    void shouldKeepIndexRightAfterFailedFlush() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        assertThat(keys(bucket)).isEmpty();
        backend.failAfter(4, StoreBackend.Failure.BEFORE); // the flush of the head
        assertThat(tryPut(bucket)).isFalse();
        backend.failAfter(Integer.MAX_VALUE, StoreBackend.Failure.BEFORE);
        long partition = backend.partitions(List.of()).getFirst().id();
        backend.remove(new ObjectId(partition, Layout.head("key")));
        assertThat(keys(bucket)).isEmpty();
    }

    /** A clock that was set back gives identifiers again. */
    @Test
    void shouldLeaveDataAloneWhoseIdentifierIsGivenAgain() throws IOException, S3Exception {
        InstantSource stopped = InstantSource.fixed(CLOCK.instant());
        put(Buckets.open(backend, true, stopped, Runnable::run).create("bucket"), "key", "data");
        StoreBackend after = backend.restarted();
        Bucket again = Buckets.open(after, true, stopped, Runnable::run).find("bucket");
        assertThatThrownBy(() -> put(again, "other", "new")).isInstanceOf(IOException.class);
        assertThat(get(again, "key")).isEqualTo("data");
    }

    // --- collisions ---

    private void createHead(long partition, long id, String key) throws IOException {
        var record = new ObjectRecord(0, false, 0, 0, "", Map.of(), Optional.empty(), 0);
        backend.create(new ObjectId(partition, id), List.of(
                new Attribute(Layout.KEY, Bytes.of(key.getBytes(StandardCharsets.UTF_8))),
                new Attribute(Layout.RECORD, record.encode())));
    }

    @Test
    void shouldFindKeysBehindOthersOfTheSameHash() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        long partition = backend.partitions(List.of()).getFirst().id();
        long id = Layout.head("key");
        for (int i = 0; i < Layout.PROBES - 1; i++, id = Layout.next(id)) {
            createHead(partition, id, "other" + i);
        }
        put(bucket, "key", "data");
        assertThat(get(bucket, "key")).isEqualTo("data");
        assertThat(backend.count(id, id + 1)).isEqualTo(1);

        // A head in between is freed, and used again; the one behind is still found.
        var table = new KeyTable(backend, partition);
        table.remove(new KeyTable.Head(Layout.head("key"),
                new ObjectRecord(0, false, 0, 0, "", Map.of(), Optional.empty(), 0)));
        assertThat(get(bucket, "key")).isEqualTo("data");
        assertThat(keys(bucket)).hasSize(Layout.PROBES - 1).contains("key");
        put(bucket, "key", "again");
        assertThat(get(bucket, "key")).isEqualTo("again");
        bucket.delete("key");
        assertThatThrownBy(() -> get(bucket, "key")).isInstanceOf(S3Exception.class);
        put(bucket, "key", "third");
        assertThat(get(bucket, "key")).isEqualTo("third");
        assertThat(backend.count(Layout.HEADS, Long.MAX_VALUE)).isEqualTo(Layout.PROBES); // one is free
    }

    @Test
    void shouldRefuseMoreKeysOfOneHashThanCanBe() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        long partition = backend.partitions(List.of()).getFirst().id();
        long id = Layout.head("key");
        for (int i = 0; i < Layout.PROBES; i++, id = Layout.next(id)) {
            createHead(partition, id, "other" + i);
        }
        assertThat(id).isEqualTo(Layout.head("key"));
        assertThatThrownBy(() -> put(bucket, "key", "data")).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> get(bucket, "key")).isInstanceOf(S3Exception.class);
    }

    // --- buckets ---

    @Test
    void shouldCheckNamesOfBuckets() {
        assertThat(List.of("abc", "my-bucket.1", "a".repeat(63))).allMatch(Buckets::isName);
        assertThat(List.of("ab", "a".repeat(64), "Abc", "-ab", "ab-", "a..b", "1.2.3.4", "a/b",
                "../x", "a_b", "")).noneMatch(Buckets::isName);
    }

    @Test
    void shouldCreateBucketOnceIfFirstAttemptFails() throws IOException, S3Exception {
        Buckets buckets = open(backend);
        backend.failAfter(1, StoreBackend.Failure.BEFORE); // the partition is created, and not flushed
        assertThatThrownBy(() -> buckets.create("bucket")).isInstanceOf(IOException.class);
        backend.failAfter(Integer.MAX_VALUE, StoreBackend.Failure.BEFORE);
        put(buckets.create("bucket"), "key", "data");
        assertThat(backend.partitions(List.of())).hasSize(1);
        assertThat(get(open(backend).find("bucket"), "key")).isEqualTo("data");
    }

    @Test
    void shouldRemoveEmptyBucketsAlone() throws IOException, S3Exception {
        Buckets buckets = open(backend);
        Bucket bucket = buckets.create("bucket");
        assertThatThrownBy(() -> buckets.create("bucket")).isInstanceOf(S3Exception.class);
        put(bucket, "key", "data");
        assertThatThrownBy(() -> buckets.remove("bucket"))
                .isInstanceOfSatisfying(S3Exception.class, e -> assertThat(e.error())
                        .isEqualTo(S3Error.BUCKET_NOT_EMPTY));
        assertThat(get(bucket, "key")).isEqualTo("data");
        bucket.delete("key");
        buckets.remove("bucket");
        assertThatThrownBy(() -> put(bucket, "key", "data")).isInstanceOf(S3Exception.class);
        assertThat(open(backend).all()).isEmpty();
    }

    @Test
    void shouldNotRemoveObjectsOfOthersWithBucket() throws IOException, S3Exception {
        Buckets buckets = open(backend);
        var _ = buckets.create("bucket");
        long partition = backend.partitions(List.of()).getFirst().id();
        backend.create(new ObjectId(partition, ObjectId.FIRST), List.of());
        assertThatThrownBy(() -> buckets.remove("bucket")).isInstanceOf(S3Exception.class);
        assertThat(backend.attributes(new ObjectId(partition, ObjectId.FIRST), List.of()))
                .isPresent();
    }

    /** The device loses power before each flush of an operation in turn, and answers GOOD to it nevertheless. */
    private void assertLossIsReported(String operation, StoreCall prepare, StoreCall call)
            throws IOException, S3Exception {
        int flushes = 0;
        boolean lost = true;
        for (; lost; flushes++) {
            var device = new StoreBackend();
            Bucket bucket = open(device).create("bucket");
            prepare.run(bucket);
            var left = new AtomicLong(flushes);
            device.beforeFlush(_ -> {
                if (left.getAndDecrement() == 0) {
                    device.reportLoss();
                }
            });
            lost = false;
            try {
                call.run(bucket);
            } catch (LostWritesException _) {
                lost = true;
            }
            assertThat(lost).as(operation + ", flush " + flushes).isEqualTo(left.get() < 0);
        }
        assertThat(flushes).as(operation).isGreaterThan(1);
    }

    @FunctionalInterface
    private interface StoreCall {
        void run(Bucket bucket) throws IOException, S3Exception;
    }

    @Test
    void shouldNotAcknowledgeWhatTheDeviceMayHaveLostBeforeItsFlush()
            throws IOException, S3Exception {
        assertLossIsReported("put", _ -> {}, bucket -> put(bucket, "key", "data"));
        assertLossIsReported("replace", bucket -> put(bucket, "key", "old"),
                bucket -> put(bucket, "key", "data"));
        assertLossIsReported("delete", bucket -> put(bucket, "key", "old"),
                bucket -> bucket.delete("key"));
        assertLossIsReported("describe", bucket -> put(bucket, "key", "old"), bucket -> {
            ObjectRecord record = bucket.find("key");
            var _ = bucket.describe("key", record, record.with(Map.of(), 7),
                    WriteCondition.NONE);
        });
        assertLossIsReported("create an upload", _ -> {}, bucket -> {
            var _ = bucket.multipart()
                    .create(new UploadRecord("key", 1, Map.of(), Optional.empty()));
        });
        backend.beforeFlush(_ -> backend.reportLoss());
        Buckets buckets = open(backend);
        assertThatThrownBy(() -> buckets.create("bucket")).isInstanceOf(LostWritesException.class);
        backend.beforeFlush(_ -> {});
        var _ = buckets.create("bucket");
    }

    @Test
    void shouldDiscardDataWithAHole() throws IOException, S3Exception {
        Bucket bucket = open(backend).create("bucket");
        put(bucket, "key", "old");
        try (DataWriter out = bucket.write("key")) {
            out.write(new byte[10_000]);
            backend.reportLoss();
            out.write(new byte[10_000]);
            assertThatThrownBy(out::finish).isInstanceOf(LostWritesException.class);
        }
        assertThat(get(bucket, "key")).isEqualTo("old");
        assertThat(dataCount()).isEqualTo(1);
    }
}
