package lunar.osd.store.directory;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.osd.wire.ObjectId;

/**
 * Creates, syncs and deletes files of data ids. A file is created only under an id that the table {@code staged} has on
 * stable storage, so that neither a crash nor a power loss leaves one behind. Thread-safe.
 */
final class DataStore {
    /** Most bytes of data that are in the database, and not in a file. */
    static final int SMALL = 4096;
    /** Ids that are reserved at a time. */
    private static final int RESERVED = 256;
    private static final int MAX_REPORTED = 1000;

    private final StoreDirectory directory;
    private final CommitQueue commits;
    private final StableStorage stability;
    private final PlatformThreads threads;
    private final ArrayDeque<Long> reserved = new ArrayDeque<>();
    /** Ids of the table {@code staged} without a file. */
    private final List<Long> discarded = new ArrayList<>();
    /** Data ids whose damage was logged. */
    private final Set<Long> reported = ConcurrentHashMap.newKeySet();

    DataStore(StoreDirectory directory, CommitQueue commits, StableStorage stability,
            PlatformThreads threads) {
        this.directory = directory;
        this.commits = commits;
        this.stability = stability;
        this.threads = threads;
    }

    /** Creates a file of a new data id, to be written. */
    DataFile createFile(ObjectId object) throws StorageException {
        long data = takeId();
        try {
            directory.create(data);
            DataFile file = DataFile.open(object, data, directory);
            file.prepareSync();
            return file;
        } catch (IOException e) {
            discard(data);
            throw Failures.of(directory.file(data) + ": create", e);
        }
    }

    private long takeId() throws StorageException {
        for (;;) {
            synchronized (reserved) {
                Long id = reserved.poll();
                if (id != null) {
                    return id;
                }
            }
            long first = commits.runStable(objects -> objects.reserve(RESERVED));
            synchronized (reserved) {
                for (int i = 0; i < RESERVED; i++) {
                    reserved.add(first + i);
                }
            }
        }
    }

    /** Opens the file of an object. */
    DataFile open(ObjectId object, long data) throws IOException {
        return DataFile.open(object, data, directory);
    }

    /** Deletes a file that no object has had. */
    void discard(long data) {
        try {
            delete(data);
        } catch (IOException e) { // the next start tries again, as the table still has it
            System.getLogger(DataStore.class.getName()).log(System.Logger.Level.WARNING,
                    "object store: cannot delete {0}: {1}", directory.file(data), e);
            return;
        }
        synchronized (discarded) {
            discarded.add(data);
        }
    }

    /** Deletes a file, if it is there. */
    void delete(long data) throws IOException {
        directory.delete(data);
    }

    /** Forgets ids that were discarded. */
    void forgetDiscarded() throws StorageException {
        List<Long> ids;
        synchronized (discarded) {
            ids = List.copyOf(discarded);
            discarded.clear();
        }
        if (!ids.isEmpty()) {
            commits.run(objects -> {
                for (long each : ids) {
                    objects.sql.update("DELETE FROM staged WHERE data = ?", each);
                }
                return true;
            });
        }
    }

    /** Makes a file stable, with the entries that lead to it if it is new. */
    void sync(DataFile file, boolean entries) throws StorageException {
        var failure = new IOException[1];
        threads.run(() -> {
            try {
                file.sync();
                if (entries) {
                    directory.syncEntries(file.data());
                }
            } catch (IOException e) {
                failure[0] = e;
            }
        });
        if (failure[0] != null) {
            throw failed(failure[0]);
        }
    }

    /**
     * Makes the data of an id stable, whose file may be closed or removed meanwhile. Reports a file that is missing.
     *
     * @return bytes of the file before; -1 if it is gone or missing
     */
    long sync(long data, OpenFiles files) throws StorageException {
        var length = new long[]{-1};
        var failure = new IOException[1];
        boolean entries = files.hasNewEntry(data);
        threads.run(() -> {
            try {
                long bytes = syncOpenOrClosed(data, files);
                if (entries) {
                    directory.syncEntries(data);
                }
                length[0] = bytes;
            } catch (NoSuchFileException _) {
                length[0] = -1;
            } catch (IOException e) {
                failure[0] = e;
            }
        });
        if (failure[0] != null) {
            throw failed(failure[0]);
        }
        if (entries) {
            files.entrySynced(data);
        }
        if (length[0] >= 0) {
            files.adopted().synced(data);
        } else {
            recordMissing(data, files);
        }
        return length[0];
    }

    /** Reports a file that is missing, unless it was removed; the next start does not take its object for empty. */
    private void recordMissing(long data, OpenFiles files) throws StorageException {
        ObjectId object = files.unsynced().get(data);
        if (object != null) {
            files.adopted().remove(data);
            var _ = damaged(object, data, "is missing");
            commits.run(objects -> {
                objects.markDamaged(object, data);
                return true;
            });
        }
    }

    /** Reports, once, that the data of an object are damaged; returns what to throw. */
    MediumException damaged(ObjectId object, long data, String problem) {
        String what = "object store: the data of object " + object + " are damaged: file "
                + directory.file(data) + " " + problem;
        if (reported.size() < MAX_REPORTED && reported.add(data)) {
            System.getLogger(DataStore.class.getName()).log(System.Logger.Level.ERROR,
                    what + "; restore the object from a backup");
        }
        return new MediumException(what);
    }

    /** Syncs files that are closed where too many wait for it. A failure is known to all flushes. */
    void syncExcess(OpenFiles files) {
        for (long each : files.excessUnsynced()) {
            try {
                var _ = sync(each, files);
            } catch (StorageException e) {
                System.getLogger(DataStore.class.getName()).log(System.Logger.Level.DEBUG,
                        "sync of " + directory.file(each), e);
            }
        }
    }

    private long syncOpenOrClosed(long data, OpenFiles files) throws IOException {
        DataFile closed = files.closedUnsynced(data);
        DataFile open = files.ofData(data);
        if (open != null && open.isOpen()) {
            long length = open.length();
            try {
                open.sync();
                if (closed != null) {
                    files.closedSynced(closed);
                }
                return length;
            } catch (ClosedChannelException _) {
                assert !open.isOpen();
                closed = files.closedUnsynced(data);
            }
        }
        if (closed != null && StableStorage.sync(closed, files)) {
            return closed.length();
        }
        DataFile again = DataFile.open(ObjectId.ROOT, data, directory);
        try {
            again.sync();
            return again.length();
        } finally {
            again.close();
        }
    }

    /** Nothing is lost where a file could not be opened, such as while too many are open. */
    private StorageException failed(IOException e) {
        return stability.failedIfLost(Failures.of("sync of data", e));
    }

    StoreDirectory directory() { return directory; }
}
