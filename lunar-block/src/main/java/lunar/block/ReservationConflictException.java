package lunar.block;

import org.jspecify.annotations.Nullable;

/** A reservation of another host forbids the request (RESERVATION CONFLICT). */
public final class ReservationConflictException extends StorageException {
    public ReservationConflictException(String message) { this(message, null); }

    public ReservationConflictException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean retryable() { return false; }
}
