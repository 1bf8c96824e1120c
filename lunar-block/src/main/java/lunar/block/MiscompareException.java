package lunar.block;

/** Compared data differ (MISCOMPARE): in a compare-and-write, or in what a verifying filter read back. */
public final class MiscompareException extends StorageException {
    private final long offsetBytes;

    /** @param offsetBytes first byte that differs, counted from the start of the request */
    public MiscompareException(String message, long offsetBytes) {
        super(message, null);
        this.offsetBytes = offsetBytes;
    }

    /** First byte that differs, counted from the start of the request. */
    public long offsetBytes() {
        return offsetBytes;
    }

    @Override
    public boolean retryable() { return false; }
}
