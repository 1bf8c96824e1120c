package lunar.rdma.spi;

import lunar.rdma.RdmaException;

/** A completion queue. Has room for everything that is posted; the caller sees to that. */
public interface ProviderQueue extends AutoCloseable {
    /**
     * Moves completions into a list, up to its {@linkplain RawCompletions#room room}, and returns at once. Also drives
     * the device, if it needs a thread for its progress.
     *
     * @return number of completions
     */
    int poll(RawCompletions into) throws RdmaException;

    /**
     * Makes the next completion end {@link ProviderChannel#await}. The caller polls once more between this and the
     * wait.
     *
     * @return false if a completion may be there already, so that waiting makes no sense
     */
    boolean arm() throws RdmaException;

    @Override
    void close();
}
