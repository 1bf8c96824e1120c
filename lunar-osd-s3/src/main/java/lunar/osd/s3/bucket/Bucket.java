package lunar.osd.s3.bucket;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.wire.ObjectId;

/**
 * A bucket: keys with objects. Thread-safe. All methods but {@link #use}, {@link #name} and {@link #createdMs} are
 * called between {@link #use} and the end of it.
 */
public final class Bucket {
    private static final long REMOVE_WAIT_SECONDS = 2;
    private static final int PAGE = 1000;

    private final ObjectBackend backend;
    private final long partition;
    private final String name;
    private final long createdMs;
    private final Layout layout;
    private final boolean flushes;
    private final KeyTable keys;
    private final KeyIndex index;
    private final DataObjects data;
    private final Uploads uploads;
    /** Shared by those that use the bucket, exclusive for its removal. */
    private final ReadWriteLock life = new ReentrantReadWriteLock();
    private volatile boolean removed;
    private final Consumer<Bucket> upkeep;
    private final AtomicBoolean swept = new AtomicBoolean();

    /** @param upkeep called once, when the index has been loaded */
    Bucket(ObjectBackend backend, long partition, String name, long createdMs, Layout layout,
            boolean flushes, Consumer<Bucket> upkeep) {
        this.upkeep = upkeep;
        this.backend = backend;
        this.partition = partition;
        this.name = name;
        this.createdMs = createdMs;
        this.layout = layout;
        this.flushes = flushes;
        keys = new KeyTable(backend, partition);
        index = new KeyIndex(backend, partition);
        data = new DataObjects(backend, partition);
        uploads = new Uploads(backend, partition, layout);
    }

    /** Returns its name. */
    public String name() { return name; }

    /** Returns when it was created, in milliseconds since 1970. */
    public long createdMs() {
        return createdMs;
    }

    /** Ends the use of a bucket, by the thread that began it. */
    @FunctionalInterface
    public interface Use extends AutoCloseable {
        @Override
        void close();
    }

    /**
     * Keeps the bucket from being removed.
     *
     * @throws S3Exception if it has been removed
     */
    public Use use() throws S3Exception {
        Lock lock = life.readLock();
        lock.lock();
        if (removed) {
            lock.unlock();
            throw new S3Exception(S3Error.NO_SUCH_BUCKET);
        }
        return lock::unlock;
    }

    // --- objects ---

    /** Returns the object of a key. */
    public ObjectRecord find(String key) throws IOException, S3Exception {
        Lock lock = keys.lock(key).readLock();
        lock.lock();
        try {
            return keys.find(key).orElseThrow(() -> new S3Exception(S3Error.NO_SUCH_KEY)).record();
        } finally {
            lock.unlock();
        }
    }

    /** Opens the object of a key. */
    public OpenObject open(String key) throws IOException, S3Exception {
        Lock lock = keys.lock(key).readLock();
        lock.lock();
        try {
            ObjectRecord record = keys.find(key)
                    .orElseThrow(() -> new S3Exception(S3Error.NO_SUCH_KEY)).record();
            data.acquire(record);
            return new OpenObject(data, record);
        } finally {
            lock.unlock();
        }
    }

    /** Opens a stream that writes the data of an object to be. */
    public DataWriter write(String key) {
        return write(new DataOwner(0, 0, key));
    }

    DataWriter write(DataOwner owner) {
        return new DataWriter(backend, new ObjectId(partition, layout.newData()), owner, flushes);
    }

    /**
     * Makes data the object of a key: readers and a restart find the old or the new one.
     *
     * @param description describes the object; data and length are those of the writer
     */
    public ObjectRecord commit(String key, DataWriter written, ObjectRecord description,
            WriteCondition condition) throws IOException, S3Exception {
        written.finish();
        var record = new ObjectRecord(written.data(), description.manifest() && written.data() != 0,
                description.manifest() ? description.length() : written.length(),
                description.modifiedMs(), description.etag(), description.headers(),
                description.checksum(), description.upload());
        UnstableChange change = begin();
        Optional<ObjectRecord> replaced;
        long head;
        Lock lock = keys.lock(key).writeLock();
        lock.lock();
        try {
            replaced = keys.find(key).map(KeyTable.Head::record);
            condition.check(replaced);
            if (replaced.isPresent()) {
                uploads.removeCompleted(replaced.get().upload());
            }
            written.keep(); // from now on, the key may have the data
            head = put(key, record);
        } finally {
            lock.unlock();
        }
        flush(head, change);
        replaced.ifPresent(data::retire);
        return record;
    }

    private long put(String key, ObjectRecord record) throws IOException {
        try {
            long head = keys.put(key, record);
            index.put(key, record);
            return head;
        } catch (IOException e) {
            index.invalidate();
            throw e;
        }
    }

    private UnstableChange begin() throws IOException {
        return UnstableChange.begin(backend, flushes);
    }

    /** Makes the head of a key stable. After a failure, a device that has restarted may have an earlier one. */
    private void flush(long head, UnstableChange change) throws IOException {
        try {
            keys.flush(head, change);
        } catch (IOException e) {
            index.invalidate();
            throw e;
        }
    }

    /** Makes the object of a key stable, which an attempt that failed may have left. */
    void flush(String key) throws IOException {
        UnstableChange change = begin();
        Optional<KeyTable.Head> head;
        Lock lock = keys.lock(key).readLock();
        lock.lock();
        try {
            head = keys.find(key);
        } finally {
            lock.unlock();
        }
        if (head.isPresent()) {
            flush(head.get().id(), change);
        }
    }

    /** Changes the description of an object; its data stay. */
    public ObjectRecord describe(String key, ObjectRecord from, ObjectRecord description,
            WriteCondition condition) throws IOException, S3Exception {
        UnstableChange change = begin();
        long head;
        Lock lock = keys.lock(key).writeLock();
        lock.lock();
        try {
            Optional<KeyTable.Head> found = keys.find(key);
            condition.check(found.map(KeyTable.Head::record));
            if (found.isEmpty() || !found.get().record().equals(from)) {
                throw new S3Exception(S3Error.PRECONDITION_FAILED);
            }
            head = put(key, description);
        } finally {
            lock.unlock();
        }
        flush(head, change);
        return description;
    }

    /** Removes the object of a key; no effect if there is none. */
    public void delete(String key) throws IOException {
        Map<String, IOException> failed = delete(List.of(key));
        if (!failed.isEmpty()) {
            throw failed.values().iterator().next();
        }
    }

    /**
     * Removes the objects of keys, and makes all removals stable at once.
     *
     * @return keys whose removal failed, and why
     */
    public Map<String, IOException> delete(Collection<String> keysToRemove) throws IOException {
        UnstableChange change = begin();
        var failed = new HashMap<String, IOException>();
        var removedObjects = new ArrayList<ObjectRecord>();
        for (String key : keysToRemove) {
            try {
                removeHead(key).ifPresent(removedObjects::add);
            } catch (IOException e) {
                failed.put(key, e);
            }
        }
        if (failed.size() < keysToRemove.size()) {
            flushRemoval(change); // even if nothing was there: an attempt that failed may have removed it
        }
        removedObjects.forEach(data::retire);
        return failed;
    }

    private Optional<ObjectRecord> removeHead(String key) throws IOException {
        Lock lock = keys.lock(key).writeLock();
        lock.lock();
        try {
            Optional<KeyTable.Head> head = keys.find(key);
            if (head.isPresent()) {
                try {
                    uploads.removeCompleted(head.get().record().upload());
                    keys.remove(head.get());
                    index.remove(key);
                } catch (IOException e) {
                    index.invalidate();
                    throw e;
                }
            }
            return head.map(KeyTable.Head::record);
        } finally {
            lock.unlock();
        }
    }

    private void flushRemoval(UnstableChange change) throws IOException {
        try {
            keys.flushRemoval(change);
        } catch (IOException e) {
            index.invalidate();
            throw e;
        }
    }

    /** Lists keys. The first call loads the index, which takes a while, and lets remains be removed. */
    public Listing list(Listing.Request request) throws IOException {
        Listing listing = Listing.of(index.entries(), request);
        if (swept.compareAndSet(false, true)) {
            upkeep.accept(this);
        }
        return listing;
    }

    /** Returns its multipart uploads. */
    public MultipartUploads multipart() {
        return new MultipartUploads(this, uploads, data, backend, partition, flushes);
    }

    // --- upkeep and removal ---

    Sweep sweep() { return new Sweep(backend, partition, keys, index, data, uploads); }

    /**
     * Removes the bucket with the remains of interrupted writes and with its uploads in progress.
     *
     * @throws S3Exception if it has a key, or is in use by other requests
     */
    void remove() throws IOException, S3Exception {
        if (!lockForRemoval()) {
            throw new S3Exception(S3Error.OPERATION_ABORTED);
        }
        try {
            if (removed) {
                throw new S3Exception(S3Error.NO_SUCH_BUCKET);
            }
            if (!Listing.of(index.entries(), new Listing.Request("", "", "", 1)).objects()
                    .isEmpty()) {
                throw new S3Exception(S3Error.BUCKET_NOT_EMPTY);
            }
            removeRemains();
            if (!backend.removePartition(partition)) {
                throw new S3Exception(S3Error.BUCKET_NOT_EMPTY,
                        "The partition has objects that are not of S3.");
            }
            removed = true;
        } finally {
            life.writeLock().unlock();
        }
    }

    private boolean lockForRemoval() throws IOException {
        try {
            return life.writeLock().tryLock(REMOVE_WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private void removeRemains() throws IOException {
        uploads.forget();
        List<ObjectBackend.Listed> page;
        do {
            page = backend.list(partition, Layout.UPLOADS, PAGE, List.of());
            for (ObjectBackend.Listed each : page) {
                if (each.id() < Layout.UPLOADS) { // the identifiers are unsigned
                    return;
                }
                backend.remove(new ObjectId(partition, each.id()));
            }
        } while (page.size() == PAGE);
    }
}
