package lunar.rdma;

/** Signals that an endpoint is in a state that does not permit the operation, such as a send before it is connected. */
public final class EndpointStateException extends RdmaException {
    private static final long serialVersionUID = 1;

    public EndpointStateException(String message) { super(message, null); }

    @Override
    public boolean retryable() { return false; }
}
