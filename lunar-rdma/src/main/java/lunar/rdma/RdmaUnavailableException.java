package lunar.rdma;

/** Signals that RDMA is not available here: a library, its permission, or the device is missing. */
public final class RdmaUnavailableException extends RdmaException {
    private static final long serialVersionUID = 1;

    public RdmaUnavailableException(String message) { super(message, null); }

    @Override
    public boolean retryable() { return false; }
}
