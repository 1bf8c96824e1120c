package lunar.block;

import org.jspecify.annotations.Nullable;

/** The request exceeds a limit of the device, or its buffer cannot be used or has the wrong size. */
public final class InvalidRequestException extends StorageException {
    public InvalidRequestException(String message) { this(message, null); }

    public InvalidRequestException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean retryable() { return false; }
}
