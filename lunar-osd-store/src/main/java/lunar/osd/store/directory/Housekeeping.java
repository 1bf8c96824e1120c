package lunar.osd.store.directory;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import lunar.block.StorageException;
import lunar.osd.wire.ObjectId;

/**
 * Does in the background what need not be done at once: writes timestamps, and makes files stable that are not written
 * any longer, so that few are to be looked at after a crash.
 */
final class Housekeeping implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Housekeeping.class.getName());
    private static final long LOOK_MS = 500;
    private static final int ROUNDS_OF_TOUCHES = 4;
    private static final int ROUNDS_OF_SYNCS = 10;
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int MAX_SYNCS = 64;
    /** Adopted files are made stable when they are this part of how many may wait for it. */
    private static final int PART_OF_ADOPTED = 4;

    private final ObjectFiles files;
    private final ObjectLocks locks;
    private final CommitQueue commits;
    private final DataStore store;
    private final Touches touches;
    private final Reserve reserve;
    private final BackgroundThread thread;
    private int round; // its thread only

    Housekeeping(ObjectFiles files, ObjectLocks locks, CommitQueue commits, DataStore store,
            Touches touches, StableStorage stability, Reserve reserve) {
        this.reserve = reserve;
        this.files = files;
        this.locks = locks;
        this.commits = commits;
        this.store = store;
        this.touches = touches;
        this.thread = new BackgroundThread("lunar-osd-store-housekeeping", LOOK_MS, stability,
                this::run);
    }

    void start() { thread.start(); }

    private void run() {
        reserve.restore();
        try {
            round();
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.WARNING, "object store: housekeeping: {0}",
                    e.getMessage());
        }
    }

    /** Does what is due. */
    void round() throws StorageException {
        round++;
        if (round % ROUNDS_OF_TOUCHES == 0 && !touches.isEmpty()) {
            commits.run(_ -> true);
        }
        if (files.open().adopted().exceeds(PART_OF_ADOPTED)) {
            commits.syncAdopted();
        }
        store.forgetDiscarded();
        if (round % ROUNDS_OF_SYNCS == 0) {
            syncIdle();
        }
    }

    private void syncIdle() throws StorageException {
        long now = System.nanoTime();
        var idle = new HashMap<Long, ObjectId>();
        files.open().unsynced().forEach((data, object) -> {
            DataFile open = files.open().ofData(data);
            if (open == null || !open.isOpen() || now - open.usedAt() > IDLE_NANOS) {
                idle.put(data, object);
            }
        });
        sync(idle);
    }

    /** Makes files stable and their lengths known to the database. */
    void sync(Map<Long, ObjectId> unsynced) throws StorageException {
        var some = new HashMap<Long, ObjectId>();
        for (Map.Entry<Long, ObjectId> each : unsynced.entrySet()) {
            some.put(each.getKey(), each.getValue());
            if (some.size() == MAX_SYNCS) {
                syncSome(some);
                some.clear();
            }
        }
        syncSome(some);
    }

    /** Syncs first, as that may take long, and again while no thread writes. */
    private void syncSome(Map<Long, ObjectId> some) throws StorageException {
        for (long data : some.keySet()) {
            store.sync(data, files.open());
        }
        var held = new ArrayList<Lock>();
        try {
            var lengths = new HashMap<Long, Long>();
            for (Map.Entry<Long, ObjectId> each : some.entrySet()) {
                Lock lock = locks.exclusive(each.getValue());
                if (lock.tryLock()) {
                    held.add(lock);
                    long length = store.sync(each.getKey(), files.open());
                    if (length >= 0) {
                        lengths.put(each.getKey(), length);
                    }
                }
            }
            save(some, lengths);
        } finally {
            held.forEach(Lock::unlock);
        }
    }

    private void save(Map<Long, ObjectId> objectsOf, Map<Long, Long> lengths)
            throws StorageException {
        if (lengths.isEmpty()) {
            return;
        }
        commits.run(objects -> {
            for (Map.Entry<Long, Long> each : lengths.entrySet()) {
                ObjectId object = objectsOf.get(each.getKey());
                if (object != null) {
                    objects.saveLength(object, each.getKey(), each.getValue());
                    objects.removeUnsynced(each.getKey());
                }
            }
            return true;
        });
        files.open().synced(lengths.keySet());
        lengths.forEach(files.open()::lengthSaved); // also of files that were opened meanwhile
    }

    /** Ends the thread. */
    @Override
    public void close() { thread.close(); }
}
