package lunar.rdma;

/** Signals that the state of an endpoint does not permit an operation, such as a send before it is connected. */
public final class EndpointStateException extends RdmaException {
    private static final long serialVersionUID = 1;

    public EndpointStateException(String message) { super(message, null); }

    @Override
    public boolean retryable() { return false; }
}
