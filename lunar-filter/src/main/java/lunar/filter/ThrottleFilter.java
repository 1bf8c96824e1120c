package lunar.filter;

import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import org.jspecify.annotations.Nullable;

/**
 * Limits the bytes and requests per second of a device, {@code throttle=100MiB,500iops:file:disk.img}. Reads, writes
 * and compare-and-writes count with their bytes, and every operation counts as a request. The rates apply on average;
 * bursts of a tenth of a second are allowed.
 */
public final class ThrottleFilter extends TimedFilter {
    /** Rate without a limit. */
    public static final long UNLIMITED = 0;

    private final @Nullable Rate bytes;
    private final @Nullable Rate requests;

    /**
     * A filter that owns the device below.
     *
     * @param bytesPerSecond at least 1 KiB, or {@link #UNLIMITED}
     * @param requestsPerSecond at least 1, or {@link #UNLIMITED}
     */
    public ThrottleFilter(BlockDevice below, long bytesPerSecond, long requestsPerSecond) {
        super(below);
        if (requestsPerSecond < 0
                || (bytesPerSecond != UNLIMITED && bytesPerSecond < 1024)) {
            throw new IllegalArgumentException(
                    "a throttle must permit at least 1KiB and 1 request per second");
        }
        this.bytes = bytesPerSecond == UNLIMITED ? null : new Rate(bytesPerSecond);
        this.requests = requestsPerSecond == UNLIMITED ? null : new Rate(requestsPerSecond);
    }

    @Override
    long delayNanos(BlockRequest request) {
        long now = System.nanoTime();
        long delay = requests == null ? 0 : requests.take(1, now);
        return bytes == null
                ? delay
                : Math.max(delay, bytes.take(request.buffer().byteSize(), now));
    }

    @Override
    public String toString() { return "throttle over " + below(); }
}
