package lunar.rdma;

/**
 * Resources that a protection domain has open; all zero once everything is closed.
 *
 * @param regions registered regions, those of pools included
 * @param bytes length of these
 * @param channels event channels
 * @param sharedQueues shared receive queues
 */
public record MemoryUse(int regions, long bytes, int channels, int sharedQueues) {
    /** Nothing is open. */
    public static final MemoryUse NONE = new MemoryUse(0, 0, 0, 0);
}
