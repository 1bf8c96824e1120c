package lunar.block;

import org.jspecify.annotations.Nullable;

/** The device does not support the operation. */
public final class NotSupportedException extends StorageException {
    public NotSupportedException(String message) { this(message, null); }

    public NotSupportedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean retryable() { return false; }
}
