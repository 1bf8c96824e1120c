package lunar.bench.raid;

/** Workloads of a volume. */
enum RaidWork {
    STRIPE_WRITE("full-stripe write"),
    /** A stripe at a time. */
    READ("sequential read"),
    /** With one member lost, which has a part of every stripe. */
    DEGRADED_READ("degraded read"),
    SMALL_WRITE("4 KiB random write"),
    REBUILD("rebuild");

    private final String title;

    RaidWork(String title) { this.title = title; }

    /** For people. */
    String title() { return title; }
}
