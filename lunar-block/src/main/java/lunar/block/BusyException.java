package lunar.block;

import org.jspecify.annotations.Nullable;

/** The device, or the path to it, is temporarily out of resources (BUSY, TASK SET FULL). */
public final class BusyException extends StorageException {
    public BusyException(String message) { this(message, null); }

    public BusyException(String message, @Nullable Throwable cause) { super(message, cause); }

    @Override
    public boolean retryable() { return true; }
}
