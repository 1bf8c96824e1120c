package lunar.scsi.target;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Environment that the logical units of a server share: limits, and services of their device types. Thread-safe. */
public final class UnitContext {
    private final int maxTransferBytes;
    private final long abortTimeoutMs;
    private final Map<Class<?>, Object> services = new ConcurrentHashMap<>();

    /**
     * @param maxTransferBytes maximum data length of one command
     * @param abortTimeoutMs time that a device has to complete aborted requests
     */
    public UnitContext(int maxTransferBytes, long abortTimeoutMs) {
        this.maxTransferBytes = maxTransferBytes;
        this.abortTimeoutMs = abortTimeoutMs;
    }

    /** Returns the maximum data length of one command, in bytes. */
    public int maxTransferBytes() {
        return maxTransferBytes;
    }

    /** Returns the time that a device has to complete aborted requests, in milliseconds. */
    public long abortTimeoutMs() {
        return abortTimeoutMs;
    }

    /** Returns the service of a class that all units of the server share, created at first use. */
    public <T> T service(Class<T> type, Supplier<T> make) {
        return type.cast(services.computeIfAbsent(type, _ -> make.get()));
    }
}
