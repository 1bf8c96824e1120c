package lunar.block;

import org.jspecify.annotations.Nullable;

/** Compared data differ (MISCOMPARE), in a compare-and-write or when a verifying filter reads data back. */
public final class MiscompareException extends StorageException {
    private final long offsetBytes;

    /** @param offsetBytes offset of the first difference from the start of the request */
    public MiscompareException(String message, long offsetBytes) {
        this(message, offsetBytes, null);
    }

    /** Like {@link #MiscompareException(String, long)}, but with a cause. */
    public MiscompareException(String message, long offsetBytes, @Nullable Throwable cause) {
        super(message, cause);
        this.offsetBytes = offsetBytes;
    }

    /** Returns the offset of the first difference from the start of the request. */
    public long offsetBytes() {
        return offsetBytes;
    }

    @Override
    public boolean retryable() { return false; }
}
