package lunar.block;

import org.jspecify.annotations.Nullable;

/** The request was aborted by a reset or the loss of a path (ABORTED COMMAND). */
public final class AbortedException extends StorageException {
    public AbortedException(String message) { this(message, null); }

    public AbortedException(String message, @Nullable Throwable cause) { super(message, cause); }

    @Override
    public boolean retryable() { return true; }
}
