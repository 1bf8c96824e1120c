package lunar.block;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Signals a failure of storage. The message tells a person the component, the operation and the place; the type and
 * {@link #retryable()} tell a program what to do.
 */
public abstract sealed class StorageException extends IOException permits AbortedException,
        BusyException,
        DeadlineException,
        DeviceGoneException,
        InvalidRequestException,
        LostWritesException,
        MediumException,
        MiscompareException,
        NoSpaceException,
        NotSupportedException,
        OutOfRangeException,
        OwnershipLostException,
        ReservationConflictException,
        WriteProtectedException {
    StorageException(String message, @Nullable Throwable cause) { super(message, cause); }

    /** Whether the same request may succeed when sent again, here or over another path. */
    public abstract boolean retryable();
}
