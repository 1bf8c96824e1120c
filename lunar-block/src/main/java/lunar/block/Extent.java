package lunar.block;

/**
 * A run of blocks that are alike.
 *
 * @param lba first block
 * @param blockCount how many, at least 1
 * @param allocated false where the blocks hold no data and read as zeroes: a hole in a file, never-written memory
 */
public record Extent(long lba, long blockCount, boolean allocated) {
    public Extent {
        if (lba < 0 || blockCount < 1) {
            throw new IllegalArgumentException("extent of " + blockCount + " blocks at " + lba);
        }
    }
}
