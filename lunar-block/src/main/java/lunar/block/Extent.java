package lunar.block;

/**
 * A run of blocks that are either all allocated or all holes.
 *
 * @param lba first block
 * @param blockCount number of blocks, at least 1
 * @param allocated false if the blocks hold no data and read as zeroes: a hole in a file, memory never written
 */
public record Extent(long lba, long blockCount, boolean allocated) {
    public Extent {
        if (lba < 0 || blockCount < 1) {
            throw new IllegalArgumentException("extent of " + blockCount + " blocks at " + lba);
        }
    }
}
