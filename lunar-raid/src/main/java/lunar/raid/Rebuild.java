package lunar.raid;

/**
 * Rebuilds the member of a slot. Its checkpoint is saved from time to time, so a crash costs little. Blocks that cannot
 * be computed, since others cannot be read, are added to the bad-block list ({@link BadBlockList}), and it goes on.
 */
public interface Rebuild extends BackgroundScan {
    /** Returns the slot that is rebuilt. */
    int slot();

    /** Returns the blocks of data not recovered so far, on this member and on those that could not be read. */
    long lostBlocks();
}
