package lunar.rdma;

/** Handles the events of a {@link Listener}; called by the thread that runs the listener's {@link EventChannel}. */
public interface ConnectionHandler {
    /**
     * A peer requests a connection. Accept or reject the request now or later, on the same thread; it holds resources
     * until then. If this method throws, the exception is logged and the request is rejected.
     */
    void requested(ConnectionRequest request);

    /** The listener has failed, and must still be closed. */
    void failed(RdmaException cause);
}
