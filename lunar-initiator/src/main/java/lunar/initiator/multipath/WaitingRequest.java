package lunar.initiator.multipath;

import java.util.List;
import java.util.function.Consumer;
import lunar.block.BlockRequest;
import lunar.block.StorageException;

/** A request that may wait for a path, or for the end of earlier writes to its blocks. */
abstract class WaitingRequest {
    /** Deadline of its wait for a path, by {@link System#nanoTime}; 0 if it has not waited. */
    long giveUpNanos;
    /** When its wait for an earlier write has begun, by {@link System#nanoTime}; 0 if it was not held. */
    long heldSinceNanos;
    /** Deadline of that wait; 0 for none. */
    long heldUntilNanos;

    /** Returns the request. */
    abstract BlockRequest asked();

    /** Goes on. */
    abstract void resume();

    /** Ends the request. */
    abstract void fail(StorageException failure);

    /**
     * Acts on each of several requests, also where the completion of one throws.
     *
     * @throws RuntimeException what the first of them has thrown, after all; likewise an {@code Error}
     */
    static void forEach(List<WaitingRequest> requests, Consumer<WaitingRequest> action) {
        Throwable first = null;
        for (WaitingRequest request : requests) {
            try {
                action.accept(request);
            } catch (RuntimeException | Error e) {
                if (first == null) {
                    first = e;
                } else if (!first.equals(e)) {
                    first.addSuppressed(e);
                }
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first != null) {
            throw (RuntimeException) first;
        }
    }
}
