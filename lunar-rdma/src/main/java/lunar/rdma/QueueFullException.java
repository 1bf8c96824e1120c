package lunar.rdma;

/** Signals that a queue has no room: operations must complete, and be polled, before more are posted. */
public final class QueueFullException extends RdmaException {
    private static final long serialVersionUID = 1;

    public QueueFullException(String message) { super(message, null); }

    @Override
    public boolean retryable() { return true; }
}
