package lunar.osd.target.attribute;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import lunar.block.StorageException;

/**
 * Keeps in memory what was read from a store, until a change may concern it. A result is not kept if it was read before
 * a change and arrives after it. Thread-safe.
 *
 * @param <K> names what is read
 * @param <V> the result
 */
public final class ReadCache<K, V> {
    /** Reads from the store. */
    @FunctionalInterface
    public interface Reader<K, V> {
        V read(K key) throws StorageException;
    }

    private final int max;
    private final Reader<K, V> reader;
    private final Map<K, V> results = new ConcurrentHashMap<>();
    private long changes; // guarded by this

    /**
     * @param max most results that are kept
     * @param reader called by {@link #of}
     */
    public ReadCache(int max, Reader<K, V> reader) {
        this.max = max;
        this.reader = reader;
    }

    /** Returns what was kept, or else read now. */
    public V of(K key) throws StorageException {
        V known = results.get(key);
        if (known != null) {
            return known;
        }
        long before = changes();
        V found = reader.read(key);
        keep(key, found, before);
        return found;
    }

    private synchronized long changes() { return changes; }

    private synchronized void keep(K key, V found, long changesBefore) {
        if (changes != changesBefore) {
            return; // what was read may be older than a change
        }
        if (results.size() >= max) {
            results.clear();
        }
        results.put(key, found);
    }

    /** Called after a change that may concern one result. */
    public synchronized void forget(K key) {
        changes++;
        results.remove(key);
    }

    /** Called after a change that may concern any results. */
    public synchronized void clear() {
        changes++;
        results.clear();
    }
}
