package lunar.block;

import org.jspecify.annotations.Nullable;

/** The device is closed, removed or out of reach for good. */
public final class DeviceGoneException extends StorageException {
    public DeviceGoneException(String message) { this(message, null); }

    public DeviceGoneException(String message, @Nullable Throwable cause) { super(message, cause); }

    @Override
    public boolean retryable() { return false; }
}
