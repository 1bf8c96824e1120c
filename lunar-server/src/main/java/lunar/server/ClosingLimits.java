package lunar.server;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * How long a server waits for devices that it closes.
 *
 * @param flush for the last flush of a device, which is closed then nevertheless
 * @param commands for a device that has been removed, and that is opened again or that the server stops with
 * @param answer for the device of a LUN that a request removes, before the request is answered
 * @param stop for all devices when the server stops
 */
record ClosingLimits(Duration flush, Duration commands, Duration answer, Duration stop) {
    /**
     * A device with default timeouts reports within 35 s why it cannot be flushed: no-path-retry is 30 s, and
     * command-timeout with abort-timeout is 35 s. systemd kills a service that has not stopped after 5 minutes.
     */
    static final ClosingLimits DEFAULT = new ClosingLimits(Duration.ofSeconds(40),
            Duration.ofSeconds(10), Duration.ofSeconds(2), Duration.ofMinutes(4));

    /** Waits until something has ended, even by a failure; returns false if it has not done so in time. */
    static boolean hasEnded(CompletableFuture<?> end, Duration within) {
        return end.handle((_, _) -> true)
                .completeOnTimeout(false, within.toMillis(), TimeUnit.MILLISECONDS).join();
    }
}
