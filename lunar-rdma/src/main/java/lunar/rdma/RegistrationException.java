package lunar.rdma;

/** Signals that memory cannot be registered, for example because it would exceed the limit of locked memory. */
public final class RegistrationException extends RdmaException {
    private static final long serialVersionUID = 1;

    public RegistrationException(String message) { super(message, null); }

    @Override
    public boolean retryable() { return false; }
}
