package lunar.block;

import org.jspecify.annotations.Nullable;

/** The request exceeds the end of the device (LOGICAL BLOCK ADDRESS OUT OF RANGE). */
public final class OutOfRangeException extends StorageException {
    public OutOfRangeException(String message) { this(message, null); }

    public OutOfRangeException(String message, @Nullable Throwable cause) { super(message, cause); }

    @Override
    public boolean retryable() { return false; }
}
