package lunar.osd.store.directory;

import java.sql.SQLException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;

/**
 * Moves the write-ahead log into the database, on a thread and a connection of its own, so that no commit waits for it.
 * Commits go on meanwhile and make the log longer; if it stays long, the rest is moved while they pause, which is
 * little by then.
 */
final class Checkpoints implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Checkpoints.class.getName());
    /** Frames, of 4 KiB each, that are to be moved. */
    private static final long BEGIN_FRAMES = 4096;
    /** If the medium is full: early, as a log that begins again needs no more space. */
    private static final long BEGIN_FRAMES_IF_FULL = 64;
    /** Frames of the log after which commits pause. */
    private static final long PAUSE_FRAMES = 16 * 1024;
    private static final long LOOK_MS = 100;

    private final Sql sql;
    private final CommitQueue commits;
    private final StableStorage stability;
    private final Space space;
    private final BackgroundThread thread;

    Checkpoints(StoreDirectory directory, CommitQueue commits, StableStorage stability,
            Space space)
            throws SQLException {
        this.sql = Sql.writing(directory.database(), directory.steps());
        this.commits = commits;
        this.stability = stability;
        this.space = space;
        this.thread = new BackgroundThread("lunar-osd-store-checkpoints", LOOK_MS, stability,
                this::run);
    }

    void start() { thread.start(); }

    private void run() {
        try {
            checkpoint(space.isFull() ? BEGIN_FRAMES_IF_FULL : BEGIN_FRAMES);
        } catch (NoSpaceException e) {
            LOG.log(System.Logger.Level.DEBUG, "checkpoint: {0}", e.getMessage()); // later
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.WARNING, "object store: checkpoint: {0}", e.getMessage());
        }
    }

    /** Moves the log if so many frames wait. */
    void checkpoint(long from) throws StorageException {
        if (move("NOOP").left() < from) {
            return;
        }
        commits.syncAdopted(); // a checkpoint makes changes stable
        Frames frames = move("PASSIVE");
        if (frames.left() > 0 && frames.all() > PAUSE_FRAMES) {
            var failure = new StorageException[1];
            commits.pause(() -> {
                try {
                    commits.syncAdopted();
                    move("PASSIVE");
                } catch (StorageException e) {
                    failure[0] = e;
                }
            });
            if (failure[0] != null) {
                throw failure[0];
            }
        }
    }

    /** Frames of the log, and those that are in the database. */
    private record Frames(long all, long moved) {
        long left() { return all - moved; }
    }

    private Frames move(String mode) throws StorageException {
        try {
            Frames frames = sql.first("PRAGMA wal_checkpoint(" + mode + ")",
                    row -> new Frames(row.getLong(2), row.getLong(3)));
            return frames == null ? new Frames(0, 0) : frames;
        } catch (StorageException e) {
            stability.failedIfLost(e);
            throw e;
        }
    }

    @Override
    public void close() throws StorageException {
        thread.close();
        sql.close();
    }
}
