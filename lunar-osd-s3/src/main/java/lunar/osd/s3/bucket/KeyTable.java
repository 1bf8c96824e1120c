package lunar.osd.s3.bucket;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * Keys of a bucket: a hash table of heads with linear probing within {@link Layout#PROBES} identifiers. A lookup is one
 * GET ATTRIBUTES, unless keys collide.
 *
 * <p>A head without a record is free: it has been removed, but the search for other keys goes on behind it, or the
 * process ended while it was created. Methods that take a key are called with its lock held.
 */
final class KeyTable {
    private static final List<AttributeId> HEAD = List.of(Layout.KEY, Layout.RECORD);
    private static final int LOCKS = 1024;

    private final ObjectBackend backend;
    private final long partition;
    private final ReadWriteLock[] locks = new ReadWriteLock[LOCKS];

    KeyTable(ObjectBackend backend, long partition) {
        this.backend = backend;
        this.partition = partition;
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new ReentrantReadWriteLock();
        }
    }

    /**
     * A head with a record.
     *
     * @param id its identifier
     * @param record its record
     */
    record Head(long id, ObjectRecord record) {}

    /** Returns the lock of a key, which is that of all keys that it can collide with. */
    ReadWriteLock lock(String key) {
        return locks[(int) (Layout.head(key) / Layout.PROBES % LOCKS)];
    }

    /** Returns the head of a key; empty if the key has no object. */
    Optional<Head> find(String key) throws IOException {
        return Optional.ofNullable(search(key).found());
    }

    /** Result of a search: the head of the key, or the identifier to create it with. */
    private record Search(@Nullable Head found, long free, boolean freeExists) {
        static final long NONE = 0;
    }

    private Search search(String key) throws IOException {
        Bytes name = name(key);
        long id = Layout.head(key);
        long free = Search.NONE;
        for (int probe = 0; probe < Layout.PROBES; probe++, id = Layout.next(id)) {
            Optional<List<Attribute>> head = backend.attributes(objectId(id), HEAD);
            if (head.isEmpty()) {
                return free == Search.NONE
                        ? new Search(null, id, false)
                        : new Search(null, free, true);
            }
            Bytes record = head.get().get(1).value();
            if (record.length() == 0) {
                free = free == Search.NONE ? id : free;
            } else if (head.get().get(0).value().equals(name)) {
                return new Search(new Head(id, ObjectRecord.decode(record)), Search.NONE, true);
            }
        }
        return new Search(null, free, true);
    }

    /**
     * Makes a record the one of a key, in one step.
     *
     * @return the head
     */
    long put(String key, ObjectRecord record) throws IOException {
        Search search = search(key);
        Attribute value = new Attribute(Layout.RECORD, record.encode());
        Head found = search.found();
        if (found != null) {
            backend.set(objectId(found.id()), List.of(value));
            return found.id();
        }
        Attribute name = new Attribute(Layout.KEY, name(key));
        if (search.free() == Search.NONE) {
            throw new IOException("more than " + Layout.PROBES + " keys of partition "
                    + Long.toHexString(partition) + "h have the same hash");
        }
        ObjectId head = objectId(search.free());
        if (search.freeExists()) {
            backend.set(head, List.of(name)); // before the record: it would be that of another key
            backend.set(head, List.of(value));
        } else {
            backend.create(head, List.of(name, value));
        }
        return search.free();
    }

    /** Removes the head of a key, in one step. */
    void remove(Head head) throws IOException {
        if (backend.attributes(objectId(Layout.next(head.id())), List.of(Layout.RECORD))
                .isPresent()) {
            backend.set(objectId(head.id()), List.of(Attribute.unset(Layout.RECORD)));
        } else {
            backend.remove(objectId(head.id()));
        }
    }

    /** Makes a head stable, or its removal if it has been removed meanwhile. */
    void flush(long head, UnstableChange change) throws IOException {
        if (!change.flush(objectId(head))) {
            flushRemoval(change);
        }
    }

    /** Makes removals of heads stable. */
    void flushRemoval(UnstableChange change) throws IOException {
        var _ = change.flush(ObjectId.ofPartition(partition));
    }

    private ObjectId objectId(long id) { return new ObjectId(partition, id); }

    private static Bytes name(String key) { return Bytes.of(key.getBytes(StandardCharsets.UTF_8)); }
}
