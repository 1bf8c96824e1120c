package lunar.osd.store.directory;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.block.StorageException;

/**
 * Gives the space back that removed partitions and dropped data occupy: deletes their rows and files in the background,
 * a few in each transaction. It pauses as long as it works, so that other changes take turns with it. What a process
 * leaves is continued by the next one.
 */
final class Reclaim implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Reclaim.class.getName());
    private static final long LOOK_MS = 500;
    /** Rows that a transaction deletes of a table, which takes some milliseconds. */
    private static final int ROWS = 250;
    private static final int FILES = 1000;
    /** Time for it when the store is closed. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final OpenFiles files;
    private final CommitQueue commits;
    private final DataStore store;
    private final BackgroundThread thread;
    /** Whether something may be left; modified by its thread only. */
    private volatile boolean more = true;

    Reclaim(OpenFiles files, CommitQueue commits, DataStore store,
            StableStorage stability) {
        this.files = files;
        this.commits = commits;
        this.store = store;
        this.thread = new BackgroundThread("lunar-osd-store-reclaim", LOOK_MS, stability,
                this::run);
    }

    void start() { thread.start(); }

    /** Whether something may be left. */
    boolean isActive() { return files.hasDropped() || more; }

    private void run() {
        if (files.hasDropped()) {
            more = true;
            files.takeDropped();
        }
        try {
            while (more && !thread.isClosed()) {
                long start = System.nanoTime();
                more = round();
                TimeUnit.NANOSECONDS.sleep(System.nanoTime() - start);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // the thread is to end
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.WARNING, "object store: space of what was removed is not"
                    + " reclaimed, which is tried again: {0}", e.getMessage());
        }
    }

    /** Deletes some rows and some files; false if there are none. */
    boolean round() throws StorageException {
        boolean rows = commits.run(objects -> objects.reclaim(ROWS));
        return deleteFiles() || rows;
    }

    /** Deletes files of dropped data, once the changes that dropped them are stable; true if there may be more. */
    private boolean deleteFiles() throws StorageException {
        if (!commits.run(objects -> objects.sql.number("SELECT EXISTS (SELECT * FROM dropped)"))
                .equals(1L)) {
            return false;
        }
        List<Long> ids = commits.runStable(objects -> objects.sql.all(
                "SELECT data FROM dropped LIMIT " + FILES, row -> row.getLong(1)));
        var deleted = new ArrayList<Long>();
        for (long each : ids) {
            try {
                store.delete(each);
                deleted.add(each);
            } catch (IOException e) {
                LOG.log(System.Logger.Level.WARNING, "object store: cannot delete {0}: {1}",
                        store.directory().file(each), e);
            }
        }
        commits.run(objects -> {
            for (long each : deleted) {
                objects.sql.update("DELETE FROM dropped WHERE data = ?", each);
            }
            return true;
        });
        return !deleted.isEmpty();
    }

    /** Continues for a moment, so that a store of which little was removed is closed with nothing left. */
    void finish() throws StorageException {
        long end = System.nanoTime() + LAST_NANOS;
        boolean left = true;
        while (left && System.nanoTime() - end < 0) {
            left = round();
        }
    }

    /** Ends the thread. */
    @Override
    public void close() { thread.close(); }
}
