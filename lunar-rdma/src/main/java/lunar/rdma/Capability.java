package lunar.rdma;

/** Optional feature of a device. Every device supports sends, receives, RDMA reads and RDMA writes. */
public enum Capability {
    /** Endpoints can share a receive queue: {@link ProtectionDomain#createSharedReceiveQueue}. */
    SHARED_RECEIVE_QUEUE,
    /**
     * Send with Invalidate: {@link WorkRequest#sendAndInvalidate}, reported by {@link Completion#invalidatedKey} of the
     * peer.
     */
    SEND_WITH_INVALIDATE,
    /**
     * A thread can sleep until a completion queue has completions. Without this, {@link EventChannel#await} polls at
     * growing intervals.
     */
    EVENT_DRIVEN,
    /** Both ends must be on the same machine, and run as users that may access each other's memory. */
    SAME_MACHINE_ONLY
}
