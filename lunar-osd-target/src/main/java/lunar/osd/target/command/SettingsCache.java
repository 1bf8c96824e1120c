package lunar.osd.target.command;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.StorageException;
import lunar.osd.store.ObjectStore;
import lunar.osd.wire.ObjectId;

/**
 * Keeps the settings of objects in memory, so that data commands need not query them. Any change that may concern them
 * clears the cache. Thread-safe.
 */
final class SettingsCache {
    private final ObjectStore store;
    private final Map<ObjectId, ObjectSettings> settings = new ConcurrentHashMap<>();
    private final AtomicLong changes = new AtomicLong();

    SettingsCache(ObjectStore store) { this.store = store; }

    /** Returns the settings of an object, which need not exist. */
    ObjectSettings of(ObjectId object) throws StorageException {
        ObjectSettings known = settings.get(object);
        if (known != null) {
            return known;
        }
        long before = changes.get();
        ObjectSettings found = store
                .<ObjectSettings, RuntimeException>query(
                        objects -> ObjectSettings.of(objects, object));
        keep(object, found, before);
        return found;
    }

    private synchronized void keep(ObjectId object, ObjectSettings found, long changesBefore) {
        if (changes.get() != changesBefore) {
            return; // what was read may be older than a change
        }
        if (settings.size() >= OsdLimits.MAX_CACHED_SETTINGS) {
            settings.clear();
        }
        settings.put(object, found);
    }

    /** Called after an object was removed. */
    synchronized void forget(ObjectId object) {
        changes.incrementAndGet();
        settings.remove(object);
    }

    /** Called after settings of any objects may have changed. */
    synchronized void clear() {
        changes.incrementAndGet();
        settings.clear();
    }
}
