package lunar.osd.s3.bucket;

import java.io.IOException;
import lunar.block.LostWritesException;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.wire.ObjectId;

/**
 * Changes of a device that are to be made stable. A flush alone does not suffice: a device that has lost power in
 * between, and the changes with it, flushes what it has left. Immutable.
 */
final class UnstableChange {
    private final ObjectBackend backend;
    private final boolean flushes;
    private final long lossesBefore;

    private UnstableChange(ObjectBackend backend, boolean flushes, long lossesBefore) {
        this.backend = backend;
        this.flushes = flushes;
        this.lossesBefore = lossesBefore;
    }

    /**
     * To be called before the first change.
     *
     * @param flushes whether anything is made stable at all
     */
    static UnstableChange begin(ObjectBackend backend, boolean flushes) throws IOException {
        return new UnstableChange(backend, flushes, flushes ? backend.losses() : 0);
    }

    /**
     * Makes an object stable, in the scope that {@link ObjectBackend#flush} says.
     *
     * @return false if the object does not exist, and nothing was made stable
     * @throws LostWritesException if the device may have lost changes since {@link #begin}
     */
    boolean flush(ObjectId object) throws IOException {
        if (!flushes) {
            return true;
        }
        boolean exists = backend.flush(object);
        if (backend.losses() != lossesBefore) {
            throw new LostWritesException("the device may have lost changes of " + object
                    + " before it was flushed");
        }
        return exists;
    }
}
