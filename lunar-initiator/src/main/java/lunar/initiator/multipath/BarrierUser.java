package lunar.initiator.multipath;

/** A device that uses the {@link WriteBarrier} of its unit. */
interface BarrierUser {
    /** Ends stale sessions that no path ends any more by a login of its own, if there are any. */
    void adopt();

    /** Starts held requests again: the barrier is lowered, or a part of it. */
    void lowered();
}
