package lunar.osd.store.directory;

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
    private volatile @Nullable Throwable lost;

    StableStorage(StoreDirectory directory) { this.directory = directory; }

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

    /** Records a failure if it means that something was lost. */
    void failedIfLost(StorageException cause) {
        if (cause instanceof LostWritesException) {
            failed(cause);
        }
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
