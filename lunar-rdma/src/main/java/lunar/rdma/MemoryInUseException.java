package lunar.rdma;

/** Thrown where memory is to be freed or deregistered while posted operations or slices still use it. */
public final class MemoryInUseException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    public MemoryInUseException(String message) { super(message); }
}
