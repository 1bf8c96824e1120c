package lunar.rdma.spi;

import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;

/** Reports connection events, and waits for them and for completions. */
public interface ProviderChannel extends AutoCloseable {
    /**
     * @param depth room for so many completions
     */
    ProviderQueue createQueue(int depth) throws RdmaException;

    /**
     * Listens on a local address; port 0 picks a free one.
     *
     * @throws lunar.rdma.ConnectionException if the address is in use or not one of this device
     */
    ProviderListener listen(InetSocketAddress address, int backlog, ListenerEvents events)
            throws RdmaException;

    /** Makes an endpoint for a connect. */
    ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
            throws RdmaException;

    /** Reports connection events that are there, without waiting for one. */
    void poll() throws RdmaException;

    /**
     * Waits until there may be a connection event, a completion in a queue that was {@linkplain ProviderQueue#arm
     * armed}, or until {@link #wakeup}. May return for no reason. Reports nothing.
     *
     * @param limitMs longest wait; 0 for no limit
     */
    void await(long limitMs) throws RdmaException;

    /** Ends the wait that is under way; without one, the next returns at once. Any thread, also after the close. */
    void wakeup();

    @Override
    void close();
}
