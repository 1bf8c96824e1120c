package lunar.block;

/**
 * Space usage of a thinly provisioned device, which allocates space for blocks when they are written.
 *
 * @param usedBytes allocated space
 * @param availableBytes space that can still be allocated; other users of the same store may allocate it first
 */
public record Usage(long usedBytes, long availableBytes) {}
