package lunar.raid.engine.member;

import lunar.raid.StripeSet;

/** The progress of a scan over a set of stripes. It advances while the stripes it passes are locked. */
public final class Progress {
    private final StripeSet stripes;
    private volatile long checkpoint;
    private volatile long stableCheckpoint;

    public Progress(StripeSet stripes, long checkpoint) {
        this.stripes = stripes;
        this.checkpoint = checkpoint;
        stableCheckpoint = checkpoint;
    }

    /** Stripes before it are done. */
    public long checkpoint() { return checkpoint; }

    /** Stripes before it are done, and stable. */
    long stableCheckpoint() {
        return stableCheckpoint;
    }

    /** Notes that everything up to a checkpoint has been flushed. */
    public void settle(long checkpoint) {
        stableCheckpoint = checkpoint;
    }

    public void advance(long stripe) { checkpoint = stripe; }

    /** Returns the first stripe of the set that is not before {@code from}, or NONE. */
    public long next(long from) {
        return stripes.next(from);
    }

    /** Whether a stripe is still to be done. */
    boolean isOpen(long stripe) {
        return stripe >= checkpoint && stripes.contains(stripe);
    }
}
