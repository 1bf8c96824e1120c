package lunar.bench.osd;

/** Commands of the paper's Table 1, with its means over TCP in microseconds. */
enum OsdCommand {
    /** TEST UNIT READY. */
    PING(86.94), CREATE(265.26), REMOVE(257.36), GETATTR(143.89), SETATTR(238.54);

    private final double paperUs;

    OsdCommand(double paperUs) { this.paperUs = paperUs; }

    /** Returns the paper's latency as a multiple of its ping. */
    double paperMultiple() {
        return paperUs / PING.paperUs;
    }
}
