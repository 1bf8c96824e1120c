package lunar.rdma.spi;

import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;

/** One end of a connection: a send queue and a receive queue. Threads are described in {@link lunar.rdma.spi}. */
public interface ProviderEndpoint extends AutoCloseable {
    /** Starts to connect; called once. The result is reported as an event; a failure may be thrown if known at once. */
    void connect(InetSocketAddress address, byte[] privateData) throws RdmaException;

    /** Accepts the request that the endpoint was created for; called once. The result is reported as an event. */
    void accept(byte[] privateData) throws RdmaException;

    /**
     * Posts an operation without waiting for the peer. The request is within the limits of the endpoint, and its memory
     * is registered; the caller may reuse the request afterwards. Receives may be posted as soon as the endpoint is
     * created: a provider that has no native queue yet keeps them.
     *
     * @param id reported with the completion
     * @return false if there is no room at the moment
     */
    boolean post(WorkRequest request, long id) throws RdmaException;

    /**
     * Whether completions of unsignalled operations are reported as well, in any order; the caller drops these, and
     * restores the order. Otherwise a completion of the send queue implies that all earlier operations of that queue
     * have succeeded.
     */
    boolean reportsUnsignalled();

    /** Tells the peer that the connection ends. {@link #abort} follows. */
    void disconnect();

    /**
     * Ends all posted operations. Called at most once, after an error, a disconnect, or for a close.
     *
     * @return true if the device will report each posted operation, as flushed or with its result; false if it no
     *         longer accesses the memory of any operation, and reports none whose completion is not in the queue now
     */
    boolean abort();

    /**
     * Waits, for a bounded time, until the device takes no more receives of a shared queue for this endpoint. Called
     * after {@link #abort}, before {@link #close}; in between, completions are fetched.
     */
    default void awaitLastReceive() {}

    /**
     * Frees the native endpoint. The device no longer accesses memory for it, and reports no completions except those
     * of receives that it has taken from a shared queue before.
     */
    @Override
    void close();
}
