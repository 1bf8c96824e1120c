package lunar.raid;

import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Called when an operation on the state of a volume has ended, which is stable then: once, by any thread, possibly
 * before the method that starts the operation returns. Must neither block nor throw.
 */
@FunctionalInterface
public interface Completion {
    /** @param failure why the operation has failed; null if it has succeeded */
    void completed(@Nullable StorageException failure);
}
