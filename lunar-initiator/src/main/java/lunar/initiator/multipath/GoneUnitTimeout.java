package lunar.initiator.multipath;

/**
 * Limits how long a request is retried at a unit that reports itself gone on open sessions, such as one that another
 * gateway has taken over. Not thread-safe.
 */
final class GoneUnitTimeout {
    private final MultipathOptions options;
    /** Time to give up, by {@link System#nanoTime}; 0 if the request was not rejected yet, and for no limit. */
    private long giveUpNanos;

    GoneUnitTimeout(MultipathOptions options) { this.options = options; }

    /** Resets this for another request. */
    void reset() { giveUpNanos = 0; }

    /** Notes a session by which the unit reports itself gone. Returns whether the request is to be given up. */
    boolean isFinal(PathSession by) {
        if (!by.session().isOpen()) {
            return false;
        }
        long nowNanos = System.nanoTime();
        if (giveUpNanos == 0) {
            giveUpNanos = options.giveUpNanos(nowNanos);
        }
        return giveUpNanos != 0 && giveUpNanos - nowNanos <= 0;
    }
}
