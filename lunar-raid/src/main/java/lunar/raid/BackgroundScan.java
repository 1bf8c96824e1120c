package lunar.raid;

import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * A scan of a volume, piece by piece, concurrent with reads and writes: rebuild, resync, scrub or reshape. It runs on
 * the threads that complete the members' requests, and on those of its {@link Pace}. Any thread may query or cancel it.
 */
public interface BackgroundScan {
    /** Returns the number of stripes of the volume; for a reshape, of rows of its members. */
    long stripes();

    /** Returns the stripe up to which the scan is done; for a reshape, the row. */
    long checkpoint();

    /** Whether the scan has ended. */
    boolean hasEnded();

    /** Returns why the scan ended before it was complete; null if it completed, or has not ended. */
    @Nullable
    StorageException failure();

    /** Ends the scan after the current step. It can be resumed from its checkpoint. */
    void cancel();
}
