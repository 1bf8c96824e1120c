package lunar.block;

import org.jspecify.annotations.Nullable;

/** Another host holds a reservation that forbids this (RESERVATION CONFLICT). */
public final class ReservationConflictException extends StorageException {
    public ReservationConflictException(String message) { this(message, null); }

    public ReservationConflictException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean retryable() { return false; }
}
