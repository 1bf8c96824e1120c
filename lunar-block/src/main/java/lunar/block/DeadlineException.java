package lunar.block;

import org.jspecify.annotations.Nullable;

/** The device did not respond in time; whether a write took effect is unknown. */
public final class DeadlineException extends StorageException {
    public DeadlineException(String message) { this(message, null); }

    public DeadlineException(String message, @Nullable Throwable cause) { super(message, cause); }

    @Override
    public boolean retryable() { return true; }
}
