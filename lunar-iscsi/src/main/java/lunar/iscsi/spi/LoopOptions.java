package lunar.iscsi.spi;

import java.util.Optional;

/**
 * Number and behaviour of the event loops of a transport.
 *
 * @param count event loops, each with a thread; at least 1
 * @param polling how long each polls before it sleeps
 * @param device name of the device to use, for transports that could use several; empty for the transport's own choice
 */
public record LoopOptions(int count, Polling polling, Optional<String> device) {
    public LoopOptions {
        if (count < 1) {
            throw new IllegalArgumentException(count + " event loops");
        }
    }

    /** Returns options for loops that never poll. */
    public static LoopOptions of(int count) {
        return new LoopOptions(count, Polling.OFF, Optional.empty());
    }

    /** Returns these options with another number of loops. */
    public LoopOptions withCount(int value) {
        return new LoopOptions(value, polling, device);
    }

    /** Returns these options with another way to wait for events. */
    public LoopOptions withPolling(Polling value) {
        return new LoopOptions(count, value, device);
    }

    /** Returns these options with a device; empty for the transport's own choice. */
    public LoopOptions withDevice(Optional<String> value) {
        return new LoopOptions(count, polling, value);
    }
}
