package lunar.block;

import org.jspecify.annotations.Nullable;

/**
 * The device belongs to another owner now, such as a second gateway that has taken a volume over: this process is
 * fenced, and neither reads nor writes the device any more. Another path, by way of the new owner, may lead to it.
 */
public final class OwnershipLostException extends StorageException {
    public OwnershipLostException(String message) { this(message, null); }

    public OwnershipLostException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean retryable() { return false; }
}
