package lunar.rdma;

/**
 * Counts the open resources of a protection domain; all counts are zero once everything is closed.
 *
 * @param regions registered memory regions, including those of pools
 * @param bytes total length of these regions
 * @param channels event channels
 * @param sharedQueues shared receive queues
 */
public record MemoryUse(int regions, long bytes, int channels, int sharedQueues) {
    /** Nothing is open. */
    public static final MemoryUse NONE = new MemoryUse(0, 0, 0, 0);
}
