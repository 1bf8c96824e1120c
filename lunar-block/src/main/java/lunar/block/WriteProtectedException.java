package lunar.block;

import org.jspecify.annotations.Nullable;

/** The device is read-only (DATA PROTECT). */
public final class WriteProtectedException extends StorageException {
    public WriteProtectedException(String message) { this(message, null); }

    public WriteProtectedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean retryable() { return false; }
}
