package lunar.raid.engine;

import lunar.raid.StripeSet;

/** How far a scan over a set of stripes has come. It goes forward while the stripes it passes are locked. */
final class Progress {
    private final StripeSet stripes;
    private volatile long checkpoint;
    private volatile long stableCheckpoint;

    Progress(StripeSet stripes, long checkpoint) {
        this.stripes = stripes;
        this.checkpoint = checkpoint;
        stableCheckpoint = checkpoint;
    }

    /** Stripes before it are done. */
    long checkpoint() { return checkpoint; }

    /** Stripes before it are done, and stable. */
    long stableCheckpoint() {
        return stableCheckpoint;
    }

    /** Notes that everything up to a checkpoint has been flushed. */
    void settle(long checkpoint) {
        stableCheckpoint = checkpoint;
    }

    void advance(long stripe) { checkpoint = stripe; }

    /** Returns the first stripe of the set that is not before {@code from}, or NONE. */
    long next(long from) {
        return stripes.next(from);
    }

    /** Whether a stripe is still to be done. */
    boolean isOpen(long stripe) {
        return stripe >= checkpoint && stripes.contains(stripe);
    }
}
