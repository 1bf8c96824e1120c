package lunar.block;

import org.jspecify.annotations.Nullable;

/**
 * Another owner has taken the device over, such as a second gateway that serves the same volume. This process is
 * fenced and does not access the device any more; a path through the new owner may lead to it.
 */
public final class OwnershipLostException extends StorageException {
    public OwnershipLostException(String message) { this(message, null); }

    public OwnershipLostException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean retryable() { return false; }
}
