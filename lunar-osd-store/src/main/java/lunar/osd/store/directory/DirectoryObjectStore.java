package lunar.osd.store.directory;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.osd.store.DataRange;
import lunar.osd.store.Growth;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.StagedData;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * An object store in a directory: names, attributes and small data in an SQLite database, larger data in files. One
 * process can have it open at a time; {@code kill -9} loses nothing that was acknowledged. Files that are missing or
 * too short are reported, and reads of their objects fail.
 *
 * <p>Thread-safe. A change may be executed by the thread of another change.
 */
public final class DirectoryObjectStore implements ObjectStore {
    private static final System.Logger LOG = System
            .getLogger(DirectoryObjectStore.class.getName());

    private final StoreDirectory directory;
    private final StoreLock lock;
    private final UUID identity;
    private final PlatformThreads threads = new PlatformThreads();
    private final StableStorage stability;
    private final Space space = new Space();
    private final Touches touches = new Touches();
    private final OpenFiles open = new OpenFiles();
    private final Sql sql;
    private final Readers readers;
    private final CommitQueue commits;
    private final DataStore store;
    private final ObjectData data;
    private final Housekeeping housekeeping;
    private final Checkpoints checkpoints;
    private final Reclaim reclaim;
    private final Reserve reserve;
    private final boolean everyChange;
    private volatile boolean closed;

    private DirectoryObjectStore(StoreDirectory directory, StoreLock lock, Sql sql,
            boolean everyChange) throws StorageException, SQLException {
        this.directory = directory;
        this.lock = lock;
        this.sql = sql;
        this.everyChange = everyChange;
        this.identity = Schema.identity(sql);
        this.stability = new StableStorage(directory);
        var overlay = new Overlay(space, touches, open);
        this.readers = new Readers(directory, overlay);
        this.commits = new CommitQueue(sql, overlay, stability, everyChange, threads);
        this.store = new DataStore(directory, commits, stability, threads);
        var files = new ObjectFiles(open, readers, commits, store);
        var locks = new ObjectLocks();
        this.data = new ObjectData(files, locks, commits, store, space, stability, everyChange);
        this.reserve = new Reserve(directory, space);
        this.housekeeping = new Housekeeping(files, locks, commits, store, touches, stability,
                reserve);
        this.reclaim = new Reclaim(open, commits, store, stability);
        this.checkpoints = new Checkpoints(directory, commits, stability, space);
    }

    /**
     * Opens a store.
     *
     * @throws lunar.block.BusyException if it is open already, in this process or another one, which the message names
     * @throws IOException with what to do, if there is no store, or it is damaged or of a newer version; then nothing
     *         was changed
     */
    public static DirectoryObjectStore open(Path path, StoreOptions options) throws IOException {
        DirectoryObjectStore store = open(
                new StoreDirectory(path.toAbsolutePath().normalize()), options);
        store.housekeeping.start();
        store.checkpoints.start();
        store.reclaim.start();
        return store;
    }

    /** Opens a store without threads of its own; the caller does their work by {@link #maintain}. */
    static DirectoryObjectStore open(StoreDirectory directory, StoreOptions options)
            throws IOException {
        var opening = new StoreOpening(directory, options.create());
        SqliteLibrary.load();
        opening.prepareDirectory();
        StoreLock lock = StoreLock.take(directory);
        Sql sql = null;
        DirectoryObjectStore store = null;
        boolean opened = false;
        try {
            sql = opening.openDatabase();
            store = new DirectoryObjectStore(directory, lock, sql, options.everyChange());
            store.start();
            opened = true;
            return store;
        } catch (SQLException e) {
            throw Failures.of(e);
        } finally {
            if (!opened) {
                abandon(store, sql, lock);
            }
        }
    }

    /** Closes what a start that has failed has opened; the store, the connection, or both may be missing. */
    private static void abandon(@Nullable DirectoryObjectStore store, @Nullable Sql sql,
            StoreLock lock) throws IOException {
        try (lock; sql) {
            if (store != null) {
                try (store.threads; store.checkpoints; store.open; store.readers) {
                    LOG.log(System.Logger.Level.DEBUG, "the start of {0} failed", store.directory);
                }
            }
        }
    }

    private void start() throws StorageException {
        new Recovery(directory, store, commits).run();
        space.clear(); // it has uncounted what was removed, although nothing was counted
        readers.run(rows -> {
            rows.sql.all("SELECT part, used FROM partitions WHERE used != 0",
                    row -> new long[]{Keys.id(row.getLong(1)), row.getLong(2)})
                    .forEach(each -> space.add(each[0], each[1]));
            return true;
        });
    }

    /** Does a round of what the threads of the store do: housekeeping, reclaim, a checkpoint of anything. */
    void maintain() throws StorageException {
        if (space.isFull()) {
            reserve.restore();
        }
        housekeeping.round();
        housekeeping.sync(open.unsynced());
        reclaim.round();
        checkpoints.checkpoint(1);
    }

    @Override
    public UUID identity() { return identity; }

    @Override
    public boolean isEveryChangeStable() { return everyChange; }

    @Override
    public Usage usage() throws StorageException {
        try {
            FileStore medium = Files.getFileStore(directory.path());
            long available = medium.getUsableSpace();
            return new Usage(medium.getTotalSpace() - available, available);
        } catch (IOException e) {
            throw Failures.of("space of " + directory, e);
        }
    }

    @Override
    public <T, E extends Exception> T query(Query<T, E> query) throws StorageException, E {
        return readers.<T, E>run(query::run);
    }

    @Override
    public <T, E extends Exception> T change(Change<T, E> change) throws StorageException, E {
        return commits.<T, E>run(change::run);
    }

    /** Timestamps that cannot be written wait for a later change: the access that sets them must not fail. */
    @Override
    public void touch(ObjectId object, Set<Timestamp> which, long timeMs) throws StorageException {
        requireOpen();
        if (touches.set(object, which, timeMs) && !space.isFull()) {
            try {
                commits.run(_ -> true);
            } catch (StorageException e) {
                LOG.log(System.Logger.Level.DEBUG, "timestamps are written later", e);
            }
        }
    }

    private void requireOpen() throws DeviceGoneException {
        if (closed) {
            throw new DeviceGoneException("object store " + directory + ": closed");
        }
    }

    @Override
    public long length(ObjectId object) throws StorageException { return data.length(object); }

    @Override
    public int read(ObjectId object, long offset, MemorySegment into) throws StorageException {
        return data.read(object, offset, into);
    }

    @Override
    public <E extends Exception> void write(ObjectId object, long offset, MemorySegment from,
            Growth<E> growth) throws StorageException, E {
        data.write(object, offset, from, growth);
    }

    @Override
    public <E extends Exception> long append(ObjectId object, MemorySegment from, Growth<E> growth)
            throws StorageException, E {
        return data.append(object, from, growth);
    }

    @Override
    public <E extends Exception> void zero(ObjectId object, long offset, long count,
            Growth<E> growth, BooleanSupplier aborted) throws StorageException, E {
        data.zero(object, offset, count, growth, aborted);
    }

    @Override
    public <E extends Exception> void resize(ObjectId object, long length, Growth<E> growth)
            throws StorageException, E {
        data.resize(object, length, growth);
    }

    @Override
    public void punch(ObjectId object, long offset, long count, BooleanSupplier aborted)
            throws StorageException {
        data.punch(object, offset, count, aborted);
    }

    @Override
    public List<DataRange> ranges(ObjectId object, long offset, int max) throws StorageException {
        return data.ranges(object, offset, max);
    }

    @Override
    public StagedData stage() throws StorageException {
        requireOpen();
        if (open.adopted().exceeds(1)) {
            commits.syncAdopted();
        }
        return new Staged(store);
    }

    @Override
    public void flush(ObjectId object) throws StorageException { data.flush(object); }

    @Override
    public void flush() throws StorageException {
        requireOpen();
        stability.check();
        commits.syncAdopted(); // each directory once
        for (long each : open.unsynced().keySet()) {
            var _ = store.sync(each, open); // not of those that are missing
        }
        commits.runStable(_ -> true);
    }

    /** Whether space of removed partitions or replaced data is still to be given back, in the background. */
    public boolean isReclaiming() {
        return reclaim.isActive();
    }

    /**
     * Checks the database and that each object has its file, which reads all but the content of files. Changes may go
     * on meanwhile.
     *
     * @return the problems, each in a line; none if the store is in order
     */
    public List<String> check() throws StorageException {
        return new StoreCheck(directory, readers, open).run();
    }

    @Override
    public void close() throws StorageException {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        housekeeping.close();
        reclaim.close();
        // The lock is released last, when no write is in flight that could meet another process.
        try (threads; lock; sql; checkpoints; open; commits; readers) {
            reclaim.finish();
            store.forgetDiscarded();
            commits.syncAdopted();
            housekeeping.sync(open.unsynced());
            stability.check();
            commits.runStable(_ -> true);
        } catch (StorageException e) {
            throw e;
        } catch (IOException e) {
            throw Failures.of("close of " + directory, e);
        }
    }
}
