package lunar.block;

import org.jspecify.annotations.Nullable;

/** The medium could not be read or written; the data in these blocks may be lost (MEDIUM ERROR). */
public final class MediumException extends StorageException {
    public MediumException(String message) { this(message, null); }

    public MediumException(String message, @Nullable Throwable cause) { super(message, cause); }

    @Override
    public boolean retryable() { return false; }
}
