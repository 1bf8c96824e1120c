package lunar.rdma;

/**
 * Signals that a queue is full: completions must be polled before more operations are posted, or endpoints closed
 * before more are created.
 */
public final class QueueFullException extends RdmaException {
    private static final long serialVersionUID = 1;

    public QueueFullException(String message) { super(message, null); }

    @Override
    public boolean retryable() { return true; }
}
