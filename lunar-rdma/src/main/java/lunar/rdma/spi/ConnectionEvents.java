package lunar.rdma.spi;

import lunar.rdma.ConnectionException;

/**
 * Events of an endpoint's connection, reported by {@link ProviderChannel#poll}: either {@link #failed}, or
 * {@link #established} and later perhaps {@link #disconnected}. No event is reported after the endpoint has been
 * aborted or closed.
 */
public interface ConnectionEvents {
    /**
     * The connection is established.
     *
     * @param privateData private data of the peer's accept; empty on the accepting side
     */
    void established(byte[] privateData);

    /** The connection cannot be established. */
    void failed(ConnectionException cause);

    /** The connection has ended. Completions of operations that were performed before are in the queues. */
    void disconnected();
}
