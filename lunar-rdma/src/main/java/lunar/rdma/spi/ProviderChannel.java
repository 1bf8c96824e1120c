package lunar.rdma.spi;

import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;

/** Reports connection events, and waits for them and for completions. */
public interface ProviderChannel extends AutoCloseable {
    /**
     * Creates a completion queue.
     *
     * @param depth number of completions that it has room for
     */
    ProviderQueue createQueue(int depth) throws RdmaException;

    /**
     * Listens on a local address; port 0 picks a free one.
     *
     * @throws lunar.rdma.ConnectionException if the address is in use or does not belong to this device
     */
    ProviderListener listen(InetSocketAddress address, int backlog, ListenerEvents events)
            throws RdmaException;

    /** Creates an endpoint that will connect to a peer. */
    ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
            throws RdmaException;

    /** Reports pending connection events without waiting. */
    void poll() throws RdmaException;

    /**
     * Waits until there may be a connection event, a completion in a queue that was {@linkplain ProviderQueue#arm
     * armed}, or until {@link #wakeup}. May return spuriously. Reports no events.
     *
     * @param limitMs time limit in milliseconds; 0 for none
     */
    void await(long limitMs) throws RdmaException;

    /** Makes the current or else the next {@link #await} return at once. Any thread, even after the close. */
    void wakeup();

    @Override
    void close();
}
