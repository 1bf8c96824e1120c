package lunar.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Writes an image so that a crash or a loss of power leaves all of a write or nothing. The data go to a redo log first
 * and are made stable there, then to their place, which is made stable too, and then the log is cleared, for good
 * before anything else is written: an entry that is found later would undo what came after it. A crash before the log
 * has all leaves the old data; one after it leaves the new ones, once {@link #recover} has written them again.
 *
 * <p>A write that fails in the middle, or whose sync fails, is rolled back. Where the log cannot be cleared, or the old
 * data not be restored, the image is {@link #isBroken}: nothing may read or change it until {@link #recover} has
 * succeeded.
 *
 * <p>The caller of each method is alone with the image, except that any thread may call {@link #isBroken}.
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

    /** Completes a write that is in the log, if there is one, and returns whether there was. */
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
