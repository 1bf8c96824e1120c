package lunar.bench.rdma;

/** Kind of measurement. */
enum Mode {
    /** Round-trip time of one message at a time, in microseconds. */
    ECHO("echo"),
    /** Bandwidth of messages in one direction, in megabytes (10^6 bytes) per second. */
    STREAM("stream");

    private final String text;

    Mode(String text) { this.text = text; }

    /** Argument of the C program. */
    String text() { return text; }

    /** Converts the time for a number of messages to the unit of this mode. */
    double figure(int messageBytes, int count, long nanos) {
        return this == ECHO ? nanos / 1e3 / count : 1e3 * messageBytes * count / nanos;
    }
}
