package lunar.initiator.multipath;

/** A device that uses the {@link WriteBarrier} of its unit. */
interface BarrierUser {
    /** Ends stale sessions that no path ends by its own login any longer, if any. */
    void adopt();

    /** Starts held requests again: the barrier is lowered, or a part of it. */
    void lowered();
}
