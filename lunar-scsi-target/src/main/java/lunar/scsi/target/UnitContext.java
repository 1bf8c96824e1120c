package lunar.scsi.target;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** What the logical units of a server share: limits, and services of their device types. Thread-safe. */
public final class UnitContext {
    private final int maxTransferBytes;
    private final long abortTimeoutMs;
    private final Map<Class<?>, Object> services = new ConcurrentHashMap<>();

    /**
     * @param maxTransferBytes longest data of one command
     * @param abortTimeoutMs how long a device has to end what is aborted
     */
    public UnitContext(int maxTransferBytes, long abortTimeoutMs) {
        this.maxTransferBytes = maxTransferBytes;
        this.abortTimeoutMs = abortTimeoutMs;
    }

    /** Longest data of one command, in bytes. */
    public int maxTransferBytes() {
        return maxTransferBytes;
    }

    /** How long a device has to end what is aborted, in milliseconds. */
    public long abortTimeoutMs() {
        return abortTimeoutMs;
    }

    /** Returns the service of a class that all units of the server share, made at its first use. */
    public <T> T service(Class<T> type, Supplier<T> make) {
        return type.cast(services.computeIfAbsent(type, _ -> make.get()));
    }
}
