package lunar.block;

import org.jspecify.annotations.Nullable;

/** A thinly provisioned device has no space left for the write. */
public final class NoSpaceException extends StorageException {
    public NoSpaceException(String message) { this(message, null); }

    public NoSpaceException(String message, @Nullable Throwable cause) { super(message, cause); }

    @Override
    public boolean retryable() { return false; }
}
