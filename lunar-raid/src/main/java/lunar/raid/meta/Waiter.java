package lunar.raid.meta;

import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/** Waits until something is stable, in one {@link WaitLine} at most. Waiting takes no memory. */
abstract class Waiter {
    /** The waiter behind this one in the same line. */
    @Nullable
    Waiter next;

    /**
     * The awaited thing is stable; called without a lock.
     *
     * @param failure null where all went well
     */
    abstract void stable(@Nullable StorageException failure);
}
