package lunar.raid;

/** Paces a scan over the stripes: an implementation that knows the time and the load makes it wait. */
@FunctionalInterface
public interface Pace {
    /** No pause: as fast as the members go. */
    Pace FULL = (_, goOn) -> goOn.run();

    /**
     * Called when a part is done.
     *
     * @param bytes member bytes that were read and written for it
     * @param goOn does the next part, on the thread that calls it
     */
    void next(long bytes, Runnable goOn);
}
