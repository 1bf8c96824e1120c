package lunar.osd.store.directory;

import java.util.HashMap;
import java.util.Map;

/**
 * Files that objects got as staged data, and that are not known to be stable. A commit that is to be stable makes them
 * stable before: a power loss would leave objects with a part of their data otherwise. Thread-safe.
 */
final class AdoptedFiles {
    /** Files and bytes that may wait to be made stable; those that stage more do it then. */
    static final int MAX_FILES = 128;
    static final long MAX_BYTES = 256L << 20;

    /** Bytes that an object got with a file, by data id. */
    private final Map<Long, Long> unsynced = new HashMap<>();
    /** Files that are stable, which the database does not have yet. */
    private final Map<Long, Long> synced = new HashMap<>();
    private long unsyncedBytes;

    synchronized void add(long data, long length) {
        unsynced.put(data, length);
        unsyncedBytes += length;
    }

    /** Forgets a file that no object has any longer, or that the database has as stable. */
    synchronized void remove(long data) {
        synced.remove(data);
        Long length = unsynced.remove(data);
        if (length != null) {
            unsyncedBytes -= length;
        }
    }

    /** Whether a file was adopted that the database does not have as stable. */
    synchronized boolean has(long data) {
        return unsynced.containsKey(data) || synced.containsKey(data);
    }

    /** Returns the data ids of files that are to be made stable. */
    synchronized Iterable<Long> unsynced() {
        return Map.copyOf(unsynced).keySet();
    }

    /** Returns the files that are stable: the bytes that objects got with them, by data id. */
    synchronized Map<Long, Long> synced() {
        return Map.copyOf(synced);
    }

    /** Records that a file is stable. */
    synchronized void synced(long data) {
        Long length = unsynced.remove(data);
        if (length != null) {
            unsyncedBytes -= length;
            synced.put(data, length);
        }
    }

    synchronized boolean allSynced() { return unsynced.isEmpty(); }

    /** Whether more than a part of what may wait does. */
    synchronized boolean exceeds(int part) {
        return unsynced.size() >= MAX_FILES / part || unsyncedBytes >= MAX_BYTES / part;
    }
}
