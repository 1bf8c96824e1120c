package lunar.block;

import org.jspecify.annotations.Nullable;

/** The device is closed, removed or out of reach for good. */
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

    /** For a request that was sent and whose answer never came; see {@link #unanswered()}. */
    public static DeviceGoneException unanswered(String message, @Nullable Throwable cause) {
        return new DeviceGoneException(message, cause, true);
    }

    /**
     * Whether the request was sent to the device and never answered. The device may have performed it, may yet perform
     * it, or may never have got it; only the end of the session by which it was sent settles that.
     */
    public boolean unanswered() { return unanswered; }

    @Override
    public boolean retryable() { return false; }
}
