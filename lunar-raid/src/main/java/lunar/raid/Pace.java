package lunar.raid;

/** How fast a scan over the stripes goes: whoever knows the time and the load makes it wait. */
@FunctionalInterface
public interface Pace {
    /** As fast as the members go. */
    Pace FULL = (_, goOn) -> goOn.run();

    /**
     * A part is done.
     *
     * @param bytes member bytes that were read and written for it
     * @param goOn does the next part, on the thread that calls it
     */
    void next(long bytes, Runnable goOn);
}
