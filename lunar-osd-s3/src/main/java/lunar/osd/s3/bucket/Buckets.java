package lunar.osd.s3.bucket;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.regex.Pattern;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.scsi.Bytes;

/**
 * The buckets of a device: partitions whose user name is a valid name of a bucket. Of several partitions with a name,
 * the one with the lowest identifier counts. Thread-safe.
 */
public final class Buckets {
    private static final System.Logger LOG = System.getLogger("lunar.osd.s3");
    private static final Pattern NAME = Pattern.compile(
            "(?!(\\d{1,3}\\.){3}\\d{1,3}$)[a-z0-9](?:[a-z0-9-]|\\.(?!\\.)){1,61}[a-z0-9]");
    private static final List<AttributeId> ATTRIBUTES = List.of(PartitionAttribute.USERNAME.id(),
            PartitionAttribute.CREATED.id());

    private final ObjectBackend backend;
    private final boolean flushes;
    private final InstantSource clock;
    private final Layout layout;
    /** Data up to this identifier were written by earlier processes. */
    private final long newestBefore;
    private final NavigableMap<String, Bucket> byName = new ConcurrentSkipListMap<>();

    private final Executor upkeep;

    private Buckets(ObjectBackend backend, boolean flushes, InstantSource clock,
            Executor upkeep) {
        this.upkeep = upkeep;
        layout = new Layout(clock);
        newestBefore = layout.newestData();
        this.backend = backend;
        this.flushes = flushes;
        this.clock = clock;
    }

    /**
     * Finds the buckets of a device.
     *
     * @param flushes whether what was written is on stable storage when a call returns
     * @param upkeep runs the removal of remains of earlier processes, for each bucket when it is first listed
     */
    public static Buckets open(ObjectBackend backend, boolean flushes, InstantSource clock,
            Executor upkeep) throws IOException {
        var buckets = new Buckets(backend, flushes, clock, upkeep);
        for (ObjectBackend.Listed each : backend.partitions(ATTRIBUTES)) {
            var name = new String(each.attributes().get(0).value().toArray(),
                    StandardCharsets.UTF_8);
            if (isName(name)) {
                Bucket bucket = buckets.bucket(each.id(), name,
                        number(each.attributes().get(1).value()));
                if (buckets.byName.putIfAbsent(name, bucket) != null) {
                    LOG.log(System.Logger.Level.WARNING, "partition "
                            + Long.toHexString(each.id()) + "h is ignored: another one is named "
                            + name);
                }
            }
        }
        return buckets;
    }

    private Bucket bucket(long partition, String name, long createdMs) {
        return new Bucket(backend, partition, name, createdMs, layout, flushes,
                each -> upkeep.execute(() -> sweepQuietly(each)));
    }

    private void sweepQuietly(Bucket bucket) {
        try {
            var _ = sweep(bucket);
        } catch (IOException | S3Exception e) {
            LOG.log(System.Logger.Level.WARNING, "remains of interrupted writes in bucket "
                    + bucket.name() + " were not removed; a restart tries again", e);
        }
    }

    private static long number(Bytes value) {
        long number = 0;
        for (int i = 0; i < Math.min(value.length(), Long.BYTES); i++) {
            number = number << 8 | value.at(i);
        }
        return number;
    }

    /** Whether a text can be the name of a bucket. */
    public static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }

    /** Returns all buckets in the order of their names. */
    public List<Bucket> all() {
        return List.copyOf(byName.values());
    }

    /** Returns a bucket. */
    public Bucket find(String name) throws S3Exception {
        Bucket bucket = byName.get(name);
        if (bucket == null) {
            throw new S3Exception(isName(name)
                    ? S3Error.NO_SUCH_BUCKET
                    : S3Error.INVALID_BUCKET_NAME);
        }
        return bucket;
    }

    /** Creates a bucket. */
    public synchronized Bucket create(String name) throws IOException, S3Exception {
        if (!isName(name)) {
            throw new S3Exception(S3Error.INVALID_BUCKET_NAME);
        }
        if (byName.containsKey(name)) {
            throw new S3Exception(S3Error.BUCKET_ALREADY_OWNED);
        }
        UnstableChange change = UnstableChange.begin(backend, flushes);
        long partition = partition(name);
        var _ = change.flush(ObjectId.ROOT); // the name, too, which is an attribute
        Bucket bucket = bucket(partition, name, clock.millis());
        byName.put(name, bucket);
        return bucket;
    }

    /** Returns a partition of a name: an earlier attempt may have created it, and then failed. */
    private long partition(String name) throws IOException {
        Bytes value = Bytes.of(name.getBytes(StandardCharsets.UTF_8));
        for (ObjectBackend.Listed each : backend.partitions(ATTRIBUTES)) {
            if (each.attributes().get(0).value().equals(value)) {
                return each.id();
            }
        }
        return backend.createPartition(
                List.of(new Attribute(PartitionAttribute.USERNAME.id(), value)));
    }

    /** Removes a bucket, which must be empty. */
    public synchronized void remove(String name) throws IOException, S3Exception {
        UnstableChange change = UnstableChange.begin(backend, flushes);
        find(name).remove();
        byName.remove(name);
        var _ = change.flush(ObjectId.ROOT);
    }

    /**
     * Removes data that earlier processes have left in a bucket.
     *
     * @return how many user objects were removed
     */
    public int sweep(Bucket bucket) throws IOException, S3Exception {
        try (Bucket.Use _ = bucket.use()) {
            return bucket.sweep().run(newestBefore, () -> !Thread.currentThread().isInterrupted());
        }
    }
}
