package lunar.block;

/**
 * Largest and optimal sizes of the requests of a device. A request that exceeds a limit fails with
 * {@link InvalidRequestException}.
 *
 * @param maxTransferBlocks most blocks of a read or write
 * @param optimalTransferBlocks blocks of the read or write with the best throughput
 * @param maxUnmapBlocks most blocks of an unmap; 0 without {@link Capability#UNMAP}
 * @param maxWriteZeroesBlocks most blocks of a write of zeroes; 0 without {@link Capability#WRITE_ZEROES}
 * @param maxCompareAndWriteBlocks most blocks of a compare-and-write; 0 without {@link Capability#COMPARE_AND_WRITE}
 * @param maxAtomicWriteBlocks most blocks of an atomic write; 0 without {@link Capability#ATOMIC_WRITE}
 * @param queueDepth number of requests in flight beyond which throughput does not increase
 * @param bufferAlignmentBytes alignment of buffers that avoids a copy; 1 if it does not matter
 */
public record Limits(int maxTransferBlocks, int optimalTransferBlocks, long maxUnmapBlocks,
        long maxWriteZeroesBlocks, int maxCompareAndWriteBlocks, int maxAtomicWriteBlocks,
        int queueDepth, int bufferAlignmentBytes) {
    /** Creates limits of a device without atomic writes. */
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
