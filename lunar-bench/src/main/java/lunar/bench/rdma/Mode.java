package lunar.bench.rdma;

/** What is measured with a message length. */
enum Mode {
    /** Messages that come back, one at a time: microseconds of a round trip. */
    ECHO("echo"),
    /** Messages in one direction: megabytes (10^6 bytes) per second. */
    STREAM("stream");

    private final String text;

    Mode(String text) { this.text = text; }

    /** Name for the C program. */
    String text() { return text; }

    /** The figure of some messages that took some time. */
    double figure(int messageBytes, int count, long nanos) {
        return this == ECHO ? nanos / 1e3 / count : 1e3 * messageBytes * count / nanos;
    }
}
