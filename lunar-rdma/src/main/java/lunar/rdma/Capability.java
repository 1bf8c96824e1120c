package lunar.rdma;

/** Optional feature of a device. Sends, receives, RDMA reads and writes are there in every device. */
public enum Capability {
    /** {@link ProtectionDomain#createSharedReceiveQueue}. */
    SHARED_RECEIVE_QUEUE,
    /** {@link WorkRequest#sendAndInvalidate}, and the key in the peer's completion. */
    SEND_WITH_INVALIDATE,
    /**
     * A completion queue can be waited for without processor time. Without it, {@link EventChannel#await} polls at
     * growing intervals.
     */
    EVENT_DRIVEN,
    /** Both ends must be on this machine, and run as users that may access each other's memory. */
    SAME_MACHINE_ONLY
}
