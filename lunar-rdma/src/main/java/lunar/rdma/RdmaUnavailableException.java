package lunar.rdma;

/** Signals that RDMA is not available: a native library, the permission to use it, or a device is missing. */
public final class RdmaUnavailableException extends RdmaException {
    private static final long serialVersionUID = 1;

    public RdmaUnavailableException(String message) { super(message, null); }

    @Override
    public boolean retryable() { return false; }
}
