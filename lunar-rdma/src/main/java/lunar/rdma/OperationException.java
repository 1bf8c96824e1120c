package lunar.rdma;

/** Signals that the operation of a blocking call has completed with an error. */
public final class OperationException extends RdmaException {
    private static final long serialVersionUID = 1;

    private final CompletionStatus status;

    /**
     * @param message names the operation and the peer
     */
    public OperationException(String message, CompletionStatus status) {
        super(message + ": " + status, null);
        this.status = status;
    }

    public CompletionStatus status() { return status; }

    @Override
    public boolean retryable() { return false; }
}
