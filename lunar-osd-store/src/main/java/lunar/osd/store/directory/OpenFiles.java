package lunar.osd.store.directory;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import lunar.osd.wire.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * Files that are open, and data ids with a row in the table {@code unsynced}, whose length is that of the file. A file
 * that was closed is remembered until no query runs that is older, as the length in the state that it reads may be an
 * older one. Thread-safe.
 */
final class OpenFiles implements AutoCloseable {
    /** Unsynced data: its object, and the bytes that are stable nevertheless. */
    private record Unsynced(ObjectId object, long stable) {}

    /** Files that are open; more may be for a moment. */
    static final int MAX = 256;
    /** Files that are closed and yet to be synced; more may be for a moment. */
    static final int MAX_UNSYNCED = 256;

    private final Map<ObjectId, DataFile> byObject = new ConcurrentHashMap<>();
    private final Map<Long, DataFile> byData = new ConcurrentHashMap<>();
    private final Map<Long, Unsynced> unsynced = new ConcurrentHashMap<>();
    /** Files whose directory entry may not be stable. */
    private final Set<Long> newEntries = ConcurrentHashMap.newKeySet();
    /**
     * Files that are closed and not synced, in that order, with the descriptors to sync them by: a kernel that has a
     * file open nowhere may forget that it could not write it back. Guarded by this.
     */
    private final Map<Long, DataFile> closedUnsynced = new LinkedHashMap<>();
    private final AdoptedFiles adopted = new AdoptedFiles();
    private final ReentrantReadWriteLock queries = new ReentrantReadWriteLock();
    /** Closed files that are still in {@link #byData}; guarded by this, as are the next four. */
    private final List<DataFile> closed = new ArrayList<>();
    private @Nullable Dropped frozen;
    private boolean ended;
    /** Whether files are to be deleted. */
    private boolean anyDropped = true;
    /** Number of times that the length of a file has moved from memory to the database. */
    private long epoch;

    /** Begins a query, which sees lengths not older than the state it reads. */
    void beginQuery() {
        queries.readLock().lock();
    }

    void endQuery() { queries.readLock().unlock(); }

    /** Returns the length of an object's data; what the database has is passed. */
    long length(long data, long stored) {
        DataFile file = byData.get(data);
        return file == null ? stored : file.length();
    }

    /** Returns the file of an object, held; null if it is not open. */
    @Nullable
    DataFile hold(ObjectId object) {
        DataFile file = byObject.get(object);
        return file != null && file.hold() ? file : null;
    }

    /** Returns the open file of a data id; null if there is none, and perhaps one that is closed. */
    @Nullable
    DataFile ofData(long data) { return byData.get(data); }

    synchronized long epoch() { return epoch; }

    /** Adds an open file; false if the state it was opened by may be outdated, so that it must be closed. */
    synchronized boolean add(DataFile file, long openedIn) {
        if (ended || openedIn != epoch || byObject.containsKey(file.object())
                || (frozen != null && frozen.has(file))) {
            return false;
        }
        byObject.put(file.object(), file);
        byData.put(file.data(), file);
        DataFile before = closedUnsynced.remove(file.data());
        if (before != null) {
            file.syncInsteadOf(before);
        }
        return true;
    }

    AdoptedFiles adopted() { return adopted; }

    boolean isUnsynced(long data) { return unsynced.containsKey(data); }

    /** Adds unsynced data; false if it is known. */
    boolean addUnsynced(long data, ObjectId object, long stable, boolean newEntry) {
        if (newEntry) {
            newEntries.add(data);
        }
        return unsynced.put(data, new Unsynced(object, stable)) == null;
    }

    /** Adds data that is stable up to here, unless it is known to be unsynced. */
    void markUnsynced(long data, ObjectId object, long stable) {
        unsynced.putIfAbsent(data, new Unsynced(object, stable));
    }

    boolean hasNewEntry(long data) { return newEntries.contains(data); }

    void entrySynced(long data) { newEntries.remove(data); }

    /** Returns what is unsynced: data ids and their objects. */
    Map<Long, ObjectId> unsynced() {
        var found = new HashMap<Long, ObjectId>();
        unsynced.forEach((data, each) -> found.put(data, each.object()));
        return found;
    }

    /** Returns the bytes of unsynced data that a flush has made stable. */
    long stable(long data) {
        Unsynced known = unsynced.get(data);
        return known == null ? Long.MAX_VALUE : known.stable();
    }

    void stable(long data, long bytes) {
        unsynced.computeIfPresent(data, (_, known) -> new Unsynced(known.object(), bytes));
    }

    /** Records that the database has adopted files as stable. */
    void adoptedStable(Map<Long, Long> lengths) {
        lengths.forEach((data, bytes) -> {
            unsynced.computeIfPresent(data, (_, known) -> new Unsynced(known.object(),
                    Math.max(known.stable(), bytes)));
            adopted.remove(data);
        });
    }

    /** Records that lengths are in the database, and the files stable. */
    synchronized void synced(Iterable<Long> data) {
        epoch++;
        data.forEach(unsynced::remove);
        data.forEach(adopted::remove);
        data.forEach(this::forgetUnsynced);
    }

    /** Closes a file, which no thread may be using; what syncs it only when it is synced. */
    synchronized void retire(DataFile file) {
        if (!isUnsynced(file.data())) {
            file.close();
            return;
        }
        file.closeForTransfers();
        forgetUnsynced(file.data());
        closedUnsynced.put(file.data(), file);
        if (!isUnsynced(file.data())) { // dropped meanwhile
            forgetUnsynced(file.data());
        }
    }

    private void forgetUnsynced(long data) {
        DataFile file;
        synchronized (this) {
            file = closedUnsynced.remove(data);
        }
        if (file != null) {
            file.close();
        }
    }

    /** Returns a file that is closed and not synced, to be synced; null if there is none of the data id. */
    synchronized @Nullable DataFile closedUnsynced(long data) {
        return closedUnsynced.get(data);
    }

    /** Closes a file that was synced, or is known to have lost something. */
    synchronized void closedSynced(DataFile file) {
        if (closedUnsynced.remove(file.data(), file)) {
            file.close();
        }
    }

    /** Returns data ids of files to sync, those that were closed first, where too many are closed and not synced. */
    synchronized List<Long> excessUnsynced() {
        return closedUnsynced.keySet().stream()
                .limit(Math.max(0, closedUnsynced.size() - MAX_UNSYNCED)).toList();
    }

    /** Records the length that the database has of an open file. */
    void lengthSaved(long data, long length) {
        DataFile file = byData.get(data);
        if (file != null) {
            file.savedLength(length);
        }
    }

    /** Keeps the files of data that is about to be dropped from being used. {@link #thaw} must follow. */
    List<DataFile> freeze(Dropped dropped) {
        if (dropped.isEmpty()) {
            return List.of();
        }
        List<DataFile> files;
        synchronized (this) {
            frozen = dropped;
            files = byObject.values().stream().filter(dropped::has).toList();
        }
        files.forEach(DataFile::freeze);
        return files;
    }

    /** Ends {@link #freeze}; closes the files if their data was dropped. */
    void thaw(Dropped dropped, List<DataFile> files, boolean committed) {
        synchronized (this) {
            frozen = null;
            if (committed && !dropped.isEmpty()) {
                epoch++;
                anyDropped = true;
                files.forEach(this::forget);
            }
        }
        files.forEach(DataFile::unfreeze);
        clean();
    }

    /** Whether data was dropped since the last {@link #takeDropped}. */
    synchronized boolean hasDropped() {
        return anyDropped;
    }

    /** Whether data was dropped since the last call. */
    synchronized boolean takeDropped() {
        boolean was = anyDropped;
        anyDropped = false;
        return was;
    }

    /** Forgets that dropped data was not stable. */
    void dropped(long data) {
        unsynced.remove(data);
        newEntries.remove(data);
        adopted.remove(data);
        forgetUnsynced(data);
    }

    /**
     * Returns files to close where too many are open: those that need not be synced before those that do, and those
     * unused for longest first.
     */
    List<DataFile> excess() {
        int size = byObject.size();
        return size <= MAX
                ? List.of()
                : oldest(size - MAX + MAX / 8);
    }

    private List<DataFile> oldest(int count) {
        record Candidate(DataFile file, boolean unsynced, long age) { // which must not change while they are sorted
        }
        long now = System.nanoTime();
        return byObject.values().stream()
                .map(file -> new Candidate(file, isUnsynced(file.data()), now - file.usedAt()))
                .sorted(Comparator.comparing(Candidate::unsynced)
                        .thenComparing(Candidate::age, Comparator.reverseOrder()))
                .limit(count).map(Candidate::file).toList();
    }

    /** Closes a file that no thread uses, if it still has the length that the database has. */
    void close(DataFile file, long savedLength) {
        if (!file.tryFreeze()) {
            return;
        }
        try {
            synchronized (this) {
                if (file.isOpen() && file.length() == savedLength) {
                    epoch++;
                    forget(file);
                }
            }
        } finally {
            file.unfreeze();
        }
        clean();
    }

    private void forget(DataFile file) {
        retire(file);
        byObject.remove(file.object(), file);
        closed.add(file);
    }

    /** Forgets closed files, unless a query runs. */
    private void clean() {
        if (queries.writeLock().tryLock()) {
            try {
                synchronized (this) {
                    closed.forEach(file -> byData.remove(file.data(), file));
                    closed.clear();
                }
            } finally {
                queries.writeLock().unlock();
            }
        }
    }

    /** Closes all, once no thread uses them; none can be added any longer. */
    @Override
    public void close() {
        List<DataFile> files;
        synchronized (this) {
            ended = true;
            files = List.copyOf(byObject.values());
            closedUnsynced.values().forEach(DataFile::close);
            closedUnsynced.clear();
        }
        for (DataFile each : files) {
            each.freeze();
            try {
                each.close();
            } finally {
                each.unfreeze();
            }
        }
    }
}
