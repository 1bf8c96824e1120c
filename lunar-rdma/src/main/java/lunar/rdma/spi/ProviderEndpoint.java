package lunar.rdma.spi;

import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;

/** End of a connection: a send queue and a receive queue. */
public interface ProviderEndpoint extends AutoCloseable {
    /** Starts to connect; called once. The result is an event, or an exception if it is known at once. */
    void connect(InetSocketAddress address, byte[] privateData) throws RdmaException;

    /** Accepts the request that the endpoint was made for; called once. The result is an event. */
    void accept(byte[] privateData) throws RdmaException;

    /**
     * Posts an operation, and returns at once. The request is within the limits of the endpoint, its memory is
     * registered, and it is free for other use afterwards. Receives are posted from the creation on: a provider that
     * has no native queue yet keeps them.
     *
     * @param id reported with the completion
     * @return false if there is no room at the moment
     */
    boolean post(WorkRequest request, long id) throws RdmaException;

    /**
     * Whether operations that are not signalled are reported as well; the caller drops these reports. Otherwise a
     * report of the send queue says that all earlier operations of that queue have succeeded.
     */
    boolean reportsUnsignalled();

    /** Tells the peer that the connection ends. {@link #abort} follows. */
    void disconnect();

    /**
     * Ends all operations. Called at most once, after an error, a disconnect, or for a close.
     *
     * @return true if the device will report each operation that is posted, as flushed or as what became of it; false
     *         if it accesses the memory of none of them any more, and will report none that is not in the queue now
     */
    boolean abort();

    /**
     * Waits, for a bounded time, until the device takes no more receives of a shared queue for this endpoint. Called
     * after {@link #abort}, before {@link #close}; in between, completions are fetched.
     */
    default void awaitLastReceive() {}

    /**
     * Frees the native endpoint; the device accesses no memory for it any more, and reports nothing of it except
     * receives of a shared queue that it has taken before.
     */
    @Override
    void close();
}
