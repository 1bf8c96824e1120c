package lunar.osd.store.directory;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Remembers that something could not be made stable. The kernel reports a failed writeback once, and marks the pages
 * clean: a second fsync(2) succeeds although the data is lost. Therefore, after the first failure no flush succeeds
 * until the store is opened again. Thread-safe.
 */
final class StableStorage {
    private static final System.Logger LOG = System.getLogger(StableStorage.class.getName());

    private final StoreDirectory directory;
    private final ReentrantLock adoptions = new ReentrantLock();
    private volatile @Nullable Throwable lost;

    StableStorage(StoreDirectory directory) { this.directory = directory; }

    /** Makes adopted files stable, with the directory entries that lead to them. To be called on a platform thread. */
    void sync(OpenFiles files) throws StorageException {
        adoptions.lock();
        try {
            AdoptedFiles adopted = files.adopted();
            var synced = new ArrayList<Long>();
            var folders = new LinkedHashSet<Path>();
            for (long data : adopted.unsynced()) {
                if (sync(data, files)) {
                    synced.add(data);
                    folders.addAll(directory.upTo(data));
                }
            }
            for (Path each : folders) {
                directory.sync(each);
            }
            synced.forEach(files::entrySynced);
            synced.forEach(adopted::synced);
        } catch (IOException e) {
            throw failedIfLost(Failures.of("sync of data", e));
        } finally {
            adoptions.unlock();
        }
    }

    /** Makes an adopted file stable; false if it is missing: removed meanwhile, or {@link DataStore} reports it. */
    private boolean sync(long data, OpenFiles files) throws IOException {
        DataFile closed = files.closedUnsynced(data);
        if (closed != null && sync(closed, files)) {
            return true;
        }
        try (AsynchronousFileChannel file = AsynchronousFileChannel.open(directory.file(data),
                StandardOpenOption.WRITE)) {
            directory.force(file, directory.file(data), false);
            return true;
        } catch (NoSuchFileException _) {
            files.adopted().remove(data);
            return false;
        }
    }

    /** Makes a file stable that is closed but for that; false if it was opened, synced or dropped meanwhile. */
    static boolean sync(DataFile closed, OpenFiles files) throws IOException {
        boolean known = false;
        try {
            closed.sync();
            known = true;
            return true;
        } catch (LostWritesException e) {
            known = true; // which is reported
            throw e;
        } catch (ClosedChannelException _) {
            return false;
        } finally {
            if (known) {
                files.closedSynced(closed);
            }
        }
    }

    /** Records that a thread of the store has ended by what it should not throw. */
    void ended(String thread, Throwable cause) {
        failed(new IllegalStateException("the thread " + thread + " has ended: " + cause, cause));
    }

    /** Records a failure, and returns what to throw. */
    LostWritesException failed(Throwable cause) {
        synchronized (this) {
            if (lost == null) {
                lost = cause;
                LOG.log(System.Logger.Level.ERROR, message(cause), cause);
            }
        }
        return new LostWritesException(message(cause), cause);
    }

    /** Records a failure if it means that something was lost, and returns what to throw. */
    StorageException failedIfLost(StorageException cause) {
        return cause instanceof LostWritesException ? failed(cause) : cause;
    }

    /** @throws LostWritesException once something was lost */
    void check() throws LostWritesException {
        Throwable known = lost;
        if (known != null) {
            throw new LostWritesException(message(known), known);
        }
    }

    private String message(Throwable cause) {
        return "object store " + directory + ": acknowledged changes may be lost: "
                + cause.getMessage() + "; every flush fails until the store is opened again:"
                + " check the disk, and the data of all clients";
    }
}
