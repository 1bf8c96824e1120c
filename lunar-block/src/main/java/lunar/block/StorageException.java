package lunar.block;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A failure of storage. The message, for people, has the component, the operation and the place; programs decide by
 * the type and {@link #retryable()}.
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

    /** Whether the request may succeed when it is sent again, over this path or another one. */
    public abstract boolean retryable();
}
