package lunar.iscsi.spi;

/**
 * Number and behaviour of the event loops of a transport.
 *
 * @param count event loops, each with a thread; at least 1
 * @param polling how long each polls before it sleeps
 */
public record LoopOptions(int count, Polling polling) {
    public LoopOptions {
        if (count < 1) {
            throw new IllegalArgumentException(count + " event loops");
        }
    }

    /** Returns options for loops that never poll. */
    public static LoopOptions of(int count) {
        return new LoopOptions(count, Polling.OFF);
    }

    /** Returns these options with another way to wait for events. */
    public LoopOptions withPolling(Polling value) {
        return new LoopOptions(count, value);
    }
}
