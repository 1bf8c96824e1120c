package lunar.osd.s3.bucket;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a bucket in their order, in memory. It is loaded from the heads when it is first needed, and again
 * after a change with unknown result; while it is loaded, changes go on. Thread-safe.
 */
final class KeyIndex {
    /** Description of an object in lists. */
    record Entry(long data, long length, long modifiedMs, String etag) {
        static Entry of(ObjectRecord record) {
            return new Entry(record.data(), record.length(), record.modifiedMs(), record.etag());
        }
    }

    private static final int PAGE = 1000;
    private static final List<AttributeId> HEAD = List.of(Layout.KEY, Layout.RECORD);

    private final ObjectBackend backend;
    private final long partition;
    /** Held while the index is loaded. */
    private final Object loading = new Object();
    private volatile @Nullable NavigableMap<String, Entry> loaded;
    /** The index being loaded, and the keys that were changed meanwhile; null if none is. Guarded by this. */
    private @Nullable NavigableMap<String, Entry> coming;
    private final Set<String> changed = new HashSet<>();
    /** Counts calls of {@link #invalidate}. Guarded by this. */
    private int invalidations;

    KeyIndex(ObjectBackend backend, long partition) {
        this.backend = backend;
        this.partition = partition;
    }

    /** Tells that a key has an object. */
    synchronized void put(String key, ObjectRecord record) {
        change(key, Entry.of(record));
    }

    /** Tells that a key has no object. */
    synchronized void remove(String key) {
        change(key, null);
    }

    private void change(String key, @Nullable Entry entry) {
        apply(loaded, key, entry);
        if (coming != null) {
            changed.add(key);
            apply(coming, key, entry);
        }
    }

    private static void apply(@Nullable NavigableMap<String, Entry> map, String key,
            @Nullable Entry entry) {
        if (map != null) {
            if (entry == null) {
                map.remove(key);
            } else {
                map.put(key, entry);
            }
        }
    }

    /** Forgets the index: a change failed in a way that leaves open whether it was made. */
    synchronized void invalidate() {
        loaded = null;
        invalidations++;
    }

    /** Whether the index has been loaded. */
    boolean isLoaded() { return loaded != null; }

    /** Returns the keys, loaded where necessary. Others change them meanwhile. */
    NavigableMap<String, Entry> entries() throws IOException {
        NavigableMap<String, Entry> entries = loaded;
        if (entries != null) {
            return entries;
        }
        synchronized (loading) {
            entries = loaded;
            return entries != null ? entries : load();
        }
    }

    private NavigableMap<String, Entry> load() throws IOException {
        var map = new ConcurrentSkipListMap<String, Entry>(KeyOrder.INSTANCE);
        int before;
        synchronized (this) {
            coming = map;
            before = invalidations;
        }
        try {
            List<ObjectBackend.Listed> heads;
            long from = Layout.HEADS;
            do {
                heads = backend.list(partition, from, PAGE, HEAD);
                for (ObjectBackend.Listed head : heads) {
                    from = head.id() + 1;
                    add(map, head);
                }
            } while (heads.size() == PAGE && from > 0);
            synchronized (this) {
                if (before == invalidations) {
                    loaded = map;
                }
            }
            return map;
        } finally {
            synchronized (this) {
                coming = null;
                changed.clear();
            }
        }
    }

    private void add(NavigableMap<String, Entry> map, ObjectBackend.Listed head)
            throws IOException {
        Bytes record = head.attributes().get(1).value();
        if (head.id() < Layout.HEADS || record.length() == 0) { // others' objects, and free heads
            return;
        }
        var key = new String(head.attributes().get(0).value().toArray(), StandardCharsets.UTF_8);
        Entry entry = Entry.of(ObjectRecord.decode(record));
        synchronized (this) {
            if (!changed.contains(key)) {
                map.put(key, entry);
            }
        }
    }
}
