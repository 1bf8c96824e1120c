package lunar.rdma;

/**
 * Signals that memory or a protection domain cannot be closed because it is still in use, or that an operation cannot
 * be posted because its memory has been given back or deregistered.
 */
public final class MemoryInUseException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    public MemoryInUseException(String message) { super(message); }
}
