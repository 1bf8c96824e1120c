package lunar.rdma;

/** Signals that a call of a native library failed for a reason that has no exception type of its own. */
public final class ProviderException extends RdmaException {
    private static final long serialVersionUID = 1;

    private final int code;

    /**
     * @param message names the call and the reason
     * @param code error code of the library, positive
     */
    public ProviderException(String message, int code) {
        super(message, null);
        this.code = code;
    }

    /** Error code of the native library, positive; for diagnosis only. */
    public int code() {
        return code;
    }

    @Override
    public boolean retryable() { return false; }
}
