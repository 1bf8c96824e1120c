package lunar.rdma.spi;

import lunar.rdma.ConnectionException;

/**
 * Events of an endpoint's connection, reported by {@link ProviderChannel#poll}: either {@link #failed}, or
 * {@link #established} and later perhaps {@link #disconnected}. None is reported after the endpoint was aborted or
 * closed.
 */
public interface ConnectionEvents {
    /**
     * @param privateData of the peer's accept; empty on the accepting side
     */
    void established(byte[] privateData);

    void failed(ConnectionException cause);

    /** The connection has ended. Completions of what was done before are in the queues. */
    void disconnected();
}
