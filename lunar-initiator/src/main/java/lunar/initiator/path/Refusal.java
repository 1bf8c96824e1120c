package lunar.initiator.path;

/**
 * How long a request is sent again to a unit that calls itself gone by sessions that are open, such as one that another
 * gateway has taken over. For one thread.
 */
final class Refusal {
    private final MultipathOptions options;
    /** By {@link System#nanoTime}; 0 as long as it was not refused, and for ever. */
    private long giveUpNanos;

    Refusal(MultipathOptions options) { this.options = options; }

    /** Another request begins. */
    void reset() { giveUpNanos = 0; }

    /** A session by which the unit calls itself gone. Returns whether the request is to be given up. */
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
