package lunar.rdma;

/**
 * Receives the events of an endpoint's connection, on the thread that runs its {@link EventChannel}. A method that
 * throws is logged, and its endpoint is disconnected.
 */
public interface EndpointHandler {
    /**
     * The connection is established: sends, reads and writes can be posted.
     *
     * @param privateData of the peer's accept; empty on the accepting side. May be padded with zeros to a fixed length
     */
    void established(Endpoint endpoint, byte[] privateData);

    /** The connect or accept failed; the endpoint is in state ERROR and remains to be closed. */
    void failed(Endpoint endpoint, ConnectionException cause);

    /**
     * An established connection has ended: by the peer, by {@link Endpoint#disconnect}, or since an operation failed.
     * The endpoint is in state ERROR and remains to be closed. Completions of what was posted may still follow.
     */
    void disconnected(Endpoint endpoint);
}
