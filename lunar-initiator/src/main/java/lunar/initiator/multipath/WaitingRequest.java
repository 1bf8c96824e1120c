package lunar.initiator.multipath;

import lunar.block.BlockRequest;
import lunar.block.StorageException;

/** A request as seen by what it waits for: a path, or the end of earlier writes to its blocks. */
abstract class WaitingRequest {
    /** When it has waited for a path too long; 0 as long as it has not. By {@link System#nanoTime}. */
    long giveUpNanos;
    /** When it has been held back too long by an earlier write; 0 as long as it is not held back. Likewise. */
    long heldUntilNanos;

    /** Returns the request. */
    abstract BlockRequest asked();

    /** Goes on. */
    abstract void resume();

    /** Ends the request. */
    abstract void fail(StorageException failure);
}
