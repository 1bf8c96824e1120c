package lunar.rdma;

/** Receives the events of a listener, on the thread that runs its {@link EventChannel}. */
public interface ConnectionHandler {
    /**
     * A peer wants to connect. The request is accepted or rejected now or later, on the same thread; it holds resources
     * until then. If the method throws, this is logged, and the request is rejected.
     */
    void requested(ConnectionRequest request);

    /** The listener has failed and remains to be closed. */
    void failed(RdmaException cause);
}
