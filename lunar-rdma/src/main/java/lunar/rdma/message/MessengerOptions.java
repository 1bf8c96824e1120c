package lunar.rdma.message;

/**
 * Options of a {@link Messenger}.
 *
 * @param messageBytes longest message that can be received, or sent by a copy; both ends should use the same value
 * @param depth most messages that are buffered in each direction
 * @param spinNanos how long a call polls for completions before its thread sleeps
 * @param timeoutMs timeout of the connection set-up, and of pending sends at the close
 */
public record MessengerOptions(int messageBytes, int depth, long spinNanos, int timeoutMs) {
    /** The defaults: 64 KiB, 16 messages, no spinning, 10 seconds. */
    public static final MessengerOptions DEFAULT = new MessengerOptions(64 << 10, 16, 0, 10_000);

    public MessengerOptions {
        if (messageBytes < 1 || depth < 1 || spinNanos < 0 || timeoutMs < 1) {
            throw new IllegalArgumentException("messages of " + messageBytes + " bytes, depth "
                    + depth + ", spin " + spinNanos + " ns, timeout " + timeoutMs + " ms");
        }
    }

    public MessengerOptions withMessageBytes(int bytes) {
        return new MessengerOptions(bytes, depth, spinNanos, timeoutMs);
    }

    public MessengerOptions withDepth(int messages) {
        return new MessengerOptions(messageBytes, messages, spinNanos, timeoutMs);
    }

    public MessengerOptions withSpin(long nanos) {
        return new MessengerOptions(messageBytes, depth, nanos, timeoutMs);
    }

    public MessengerOptions withTimeout(int ms) {
        return new MessengerOptions(messageBytes, depth, spinNanos, ms);
    }
}
