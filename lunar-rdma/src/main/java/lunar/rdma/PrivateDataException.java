package lunar.rdma;

/** Signals that the private data of a connect, accept or reject is longer than the device can carry. */
public final class PrivateDataException extends RdmaException {
    private static final long serialVersionUID = 1;

    private final int maxBytes;

    public PrivateDataException(int bytes, int maxBytes) {
        super("private data of " + bytes + " bytes; the device carries at most " + maxBytes, null);
        this.maxBytes = maxBytes;
    }

    /** Length in bytes of the longest private data that the connect, accept or reject can carry. */
    public int maxBytes() {
        return maxBytes;
    }

    @Override
    public boolean retryable() { return false; }
}
