package lunar.block;

import org.jspecify.annotations.Nullable;

/** The device is closed, removed or permanently unreachable. */
public final class DeviceGoneException extends StorageException {
    private final boolean unanswered;

    public DeviceGoneException(String message) { this(message, null); }

    public DeviceGoneException(String message, @Nullable Throwable cause) {
        this(message, cause, false);
    }

    private DeviceGoneException(String message, @Nullable Throwable cause, boolean unanswered) {
        super(message, cause);
        this.unanswered = unanswered;
    }

    /** Returns an exception for a request that was sent and not answered; see {@link #unanswered()}. */
    public static DeviceGoneException unanswered(String message, @Nullable Throwable cause) {
        return new DeviceGoneException(message, cause, true);
    }

    /**
     * Whether the request was sent to the device and not answered. The device may have performed it, may still perform
     * it, or may not have received it, until the session in which it was sent has ended at the device.
     */
    public boolean unanswered() { return unanswered; }

    @Override
    public boolean retryable() { return false; }
}
