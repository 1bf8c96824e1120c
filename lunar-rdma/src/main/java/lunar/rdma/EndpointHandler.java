package lunar.rdma;

/**
 * Handles the events of an endpoint's connection. The methods are called by the thread that runs the endpoint's
 * {@link EventChannel}. If one throws, the exception is logged, and the connection ends.
 */
public interface EndpointHandler {
    /**
     * The connection is established: sends, reads and writes can be posted.
     *
     * @param privateData private data of the peer's accept; empty on the accepting side. May be padded with zeros to a
     *        fixed length
     */
    void established(Endpoint endpoint, byte[] privateData);

    /** The connect or accept has failed. The endpoint is in state ERROR and must still be closed. */
    void failed(Endpoint endpoint, ConnectionException cause);

    /**
     * The established connection has ended: the peer or {@link Endpoint#disconnect} has ended it, or an operation has
     * failed. The endpoint is in state ERROR and must still be closed. Completions of posted operations may follow.
     */
    void disconnected(Endpoint endpoint);
}
