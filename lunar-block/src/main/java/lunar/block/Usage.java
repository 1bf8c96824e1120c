package lunar.block;

/**
 * How full a device is that takes room for blocks only when they are written.
 *
 * @param usedBytes room that is taken
 * @param availableBytes room that can still be taken; what others take from the same store counts
 */
public record Usage(long usedBytes, long availableBytes) {}
