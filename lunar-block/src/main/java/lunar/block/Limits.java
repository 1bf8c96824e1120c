package lunar.block;

/**
 * Largest and best requests of a device. A request over a limit fails with {@link InvalidRequestException}.
 *
 * @param maxTransferBlocks blocks of the longest read or write
 * @param optimalTransferBlocks blocks of the read or write that runs best
 * @param maxUnmapBlocks blocks of the longest unmap, 0 where there is none
 * @param maxWriteZeroesBlocks blocks of the longest write-zeroes, 0 where there is none
 * @param maxCompareAndWriteBlocks blocks of the longest compare-and-write, 0 where there is none
 * @param maxAtomicWriteBlocks blocks of the longest atomic write, 0 where there is none
 * @param queueDepth requests worth having in flight
 * @param bufferAlignmentBytes alignment that buffers should have to avoid a copy (1 where it does not matter)
 */
public record Limits(int maxTransferBlocks, int optimalTransferBlocks, long maxUnmapBlocks,
        long maxWriteZeroesBlocks, int maxCompareAndWriteBlocks, int maxAtomicWriteBlocks,
        int queueDepth, int bufferAlignmentBytes) {
    /** Limits of a device without atomic writes. */
    public Limits(int maxTransferBlocks, int optimalTransferBlocks, long maxUnmapBlocks,
            long maxWriteZeroesBlocks, int maxCompareAndWriteBlocks, int queueDepth,
            int bufferAlignmentBytes) {
        this(maxTransferBlocks, optimalTransferBlocks, maxUnmapBlocks, maxWriteZeroesBlocks,
                maxCompareAndWriteBlocks, 0, queueDepth, bufferAlignmentBytes);
    }

    public Limits {
        if (maxTransferBlocks <= 0 || optimalTransferBlocks <= 0
                || optimalTransferBlocks > maxTransferBlocks || maxUnmapBlocks < 0
                || maxWriteZeroesBlocks < 0 || maxCompareAndWriteBlocks < 0
                || maxAtomicWriteBlocks < 0 || maxAtomicWriteBlocks > maxTransferBlocks
                || queueDepth <= 0 || Integer.bitCount(bufferAlignmentBytes) != 1) {
            throw new IllegalArgumentException("contradictory limits");
        }
    }
}
