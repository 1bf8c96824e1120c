package lunar.osd.s3.bucket;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedSet;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.wire.ObjectId;

/**
 * The data of a bucket. Data that a key no longer has stay until their last reader has finished. Thread-safe.
 */
final class DataObjects {
    private static final System.Logger LOG = System.getLogger("lunar.osd.s3");

    private final ObjectBackend backend;
    private final long partition;
    /** Objects with readers, by their data. Guarded by this. */
    private final Map<Long, Readers> readers = new HashMap<>();

    private static final class Readers {
        private final ObjectRecord record;
        private int count;
        /** Whether the data are to be removed after the last reader. */
        private boolean retired;

        private Readers(ObjectRecord record) { this.record = record; }
    }

    DataObjects(ObjectBackend backend, long partition) {
        this.backend = backend;
        this.partition = partition;
    }

    /** Adds a reader of an object that a key has: called with the key's lock held. */
    synchronized void acquire(ObjectRecord record) {
        readers.computeIfAbsent(record.data(), _ -> new Readers(record)).count++;
    }

    /** Ends a reader. */
    void release(ObjectRecord record) {
        synchronized (this) {
            Readers all = Objects.requireNonNull(readers.get(record.data()));
            all.count--;
            if (all.count > 0) {
                return;
            }
            readers.remove(record.data());
            if (!all.retired) {
                return;
            }
        }
        remove(record);
    }

    /** Removes the data of an object that no key has any more, when they have no reader. */
    void retire(ObjectRecord record) {
        if (record.data() == 0) {
            return;
        }
        synchronized (this) {
            Readers all = readers.get(record.data());
            if (all != null) {
                all.retired = true;
                return;
            }
        }
        remove(record);
    }

    /** Whether data have a reader: by themselves, or as a part of an upload. */
    synchronized boolean isRead(long data, DataOwner owner) {
        return owner.upload() == 0
                ? readers.containsKey(data)
                : readers.values().stream().anyMatch(
                        each -> each.record.upload() == owner.upload());
    }

    private void remove(ObjectRecord record) {
        try {
            for (long data : dataOf(record)) {
                remove(data);
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "data " + objectId(record.data())
                    + ", which are not needed, could not be removed; a restart tries again", e);
        }
    }

    /** Removes data that nothing refers to; 0 for none. */
    void remove(long data) throws IOException {
        if (data != 0) {
            backend.remove(objectId(data));
        }
    }

    /**
     * Returns all user objects that an object consists of; a manifest is the last, so that a removal can be repeated.
     */
    SequencedSet<Long> dataOf(ObjectRecord record) throws IOException {
        var all = new LinkedHashSet<Long>();
        if (record.manifest()) {
            manifest(record).parts().forEach(part -> all.add(part.data()));
        }
        if (record.data() != 0) {
            all.add(record.data());
        }
        return all;
    }

    private Manifest manifest(ObjectRecord record) throws IOException {
        try (InputStream in = backend.read(objectId(record.data()), 0, Long.MAX_VALUE)) {
            return Manifest.read(in);
        }
    }

    /** Opens a stream of a range of an object. */
    InputStream open(ObjectRecord record, long offset, long length) throws IOException {
        if (length == 0 || record.data() == 0) {
            return InputStream.nullInputStream();
        }
        if (!record.manifest()) {
            return backend.read(objectId(record.data()), offset, length);
        }
        var ranges = new ArrayList<SegmentInput.Range>();
        long at = 0;
        for (Manifest.Segment part : manifest(record).parts()) {
            long from = Math.max(offset, at);
            long to = Math.min(offset + length, at + part.length());
            if (from < to) {
                ranges.add(new SegmentInput.Range(objectId(part.data()), from - at, to - from));
            }
            at += part.length();
        }
        return new SegmentInput(backend, List.copyOf(ranges));
    }

    private ObjectId objectId(long data) { return new ObjectId(partition, data); }
}
