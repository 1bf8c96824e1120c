package lunar.raid;

import lunar.block.StorageException;

/** Hears what happens to a volume. Called by any thread; must neither block nor throw. */
public interface RaidListener {
    /** Hears nothing. */
    RaidListener NONE = new RaidListener() {
    };

    /** A slot has failed; the volume goes on without it. */
    default void slotFailed(int slot, StorageException cause) {}

    /** More is lost than the level survives; no write is taken from now on. */
    default void volumeFailed(StorageException cause) {}

    /** What a request to the volume fails with, where its members have made it fail. */
    default StorageException answer(StorageException failure) {
        return failure;
    }

    /** Blocks of a member that could not be read have been computed from the others and written. */
    default void repaired(int slot, long memberBlock, long blocks) {}

    /** Blocks of a member could not be read, nor computed from the others. */
    default void unrecoverable(int slot, long memberBlock, long blocks) {}

    /**
     * A scrub has found a stripe whose redundancy does not match its data.
     *
     * @param slot whose unit is wrong, or -1 where that cannot be told
     * @param repaired whether it has been put right; where it could not be told, by taking the data for true
     */
    default void mismatched(long stripe, int slot, boolean repaired) {}

    /** A slot has all that belongs there. */
    default void rebuilt(int slot) {}

    /**
     * The same.
     *
     * @param lostBlocks blocks that could not be brought back, and are lost until they are written
     */
    default void rebuilt(int slot, long lostBlocks) { rebuilt(slot); }
}
