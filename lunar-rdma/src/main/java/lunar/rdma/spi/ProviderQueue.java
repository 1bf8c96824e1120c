package lunar.rdma.spi;

import lunar.rdma.RdmaException;

/** A completion queue. The caller posts no more operations than it has room for. */
public interface ProviderQueue extends AutoCloseable {
    /**
     * Moves completions into a list, up to its {@linkplain RawCompletions#room room}, without waiting. Also makes
     * progress for a device that needs a thread for that.
     *
     * @return number of completions
     */
    int poll(RawCompletions into) throws RdmaException;

    /** Whether a {@link #poll} without a completion costs less than a system call. */
    default boolean isCheapToPoll() {
        return false;
    }

    /**
     * Arms the queue: the next completion ends {@link ProviderChannel#await}. The caller polls once more between this
     * and the wait.
     *
     * @return false if there may be a completion already, so that the caller should not wait
     */
    boolean arm() throws RdmaException;

    @Override
    void close();
}
