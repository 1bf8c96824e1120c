package lunar.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Writes an image atomically with respect to crashes and loss of power. The data is first written to a redo log and
 * synced, then written to its place and synced, and then the log is cleared and synced before anything else is written,
 * because replaying a stale entry would overwrite later writes. A crash before the log is complete leaves the old data;
 * a later one leaves the new data after {@link #recover} has replayed the log.
 *
 * <p>A write that fails half-way, or whose sync fails, is rolled back. If the log cannot be cleared, or the old data
 * cannot be restored, the image {@link #isBroken}: it must not be read or changed until {@link #recover} has succeeded.
 *
 * <p>The caller of each method has exclusive access to the image, except that any thread may call {@link #isBroken}.
 */
final class AtomicWrites {
    private final StableBytes image;
    private final AtomicLog log;
    /** Why an entry may be left in the log. */
    private volatile @Nullable IOException broken;

    AtomicWrites(StableBytes image, AtomicLog log) {
        this.image = image;
        this.log = log;
    }

    /** Whether the image must not be used before {@link #recover}. */
    boolean isBroken() {
        return broken != null;
    }

    /** Writes all or nothing; stable when the call returns. */
    void write(long offsetBytes, MemorySegment data) throws IOException {
        MemorySegment old = Arena.ofAuto().allocate(data.byteSize(), 4096);
        image.read(offsetBytes, old);
        try {
            log.record(offsetBytes, data);
        } catch (IOException e) {
            clearAfter(e);
            throw e;
        }
        try {
            image.write(offsetBytes, data);
            image.sync(); // if it fails, any part of the data is on the disk
        } catch (IOException e) {
            rollBack(offsetBytes, old, e);
            throw e;
        }
        try {
            log.clear();
        } catch (IOException e) {
            broken = e;
            throw e;
        }
    }

    private void rollBack(long offsetBytes, MemorySegment old, IOException cause) {
        try {
            image.write(offsetBytes, old);
            image.sync();
        } catch (IOException e) {
            cause.addSuppressed(e);
            broken = cause;
            return;
        }
        clearAfter(cause);
    }

    private void clearAfter(IOException cause) {
        try {
            log.clear();
        } catch (IOException e) {
            cause.addSuppressed(e);
            broken = cause;
        }
    }

    /** Completes a write in the log, if any, and returns whether there was one. */
    boolean recover() throws IOException {
        AtomicLog.Entry entry = log.pending().orElse(null);
        if (entry != null) {
            image.write(entry.offsetBytes(), entry.data());
            image.sync();
        }
        log.clear();
        broken = null;
        return entry != null;
    }
}
