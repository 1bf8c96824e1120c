package lunar.raid.metadata.page;

import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/** Waits until something is stable, in one {@link WaiterQueue} at most. Waiting takes no memory. */
public abstract class Waiter {
    /** The waiter behind this one in the same line. */
    @Nullable
    Waiter next;

    /**
     * The awaited thing is stable; called without a lock.
     *
     * @param failure null where all went well
     */
    public abstract void stable(@Nullable StorageException failure);
}
