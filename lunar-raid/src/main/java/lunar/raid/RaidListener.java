package lunar.raid;

import java.util.OptionalInt;
import lunar.block.StorageException;

/** Listens to the events of a volume. Called by any thread; must neither block nor throw. */
public interface RaidListener {
    /** A listener that does nothing. */
    RaidListener NONE = new RaidListener() {
    };

    /** Called when a slot has failed; the volume goes on without it. */
    default void slotFailed(int slot, StorageException cause) {}

    /** Called when more is lost than the level survives; no write is taken from now on. */
    default void volumeFailed(StorageException cause) {}

    /** Returns the failure to report for a request to the volume that its members have made fail. */
    default StorageException answer(StorageException failure) {
        return failure;
    }

    /** Called when blocks of a member that could not be read have been computed from the others and written. */
    default void repaired(int slot, long memberBlock, long blocks) {}

    /** Called when blocks of a member could neither be read nor computed from the others. */
    default void unrecoverable(int slot, long memberBlock, long blocks) {}

    /**
     * Called when a scrub has found a stripe with redundancy that does not match its data.
     *
     * @param slot the slot of the unit that is wrong; empty if that cannot be told
     * @param repaired whether the scrub repairs it; if the wrong unit cannot be told, by taking the data as right
     */
    default void mismatched(long stripe, OptionalInt slot, boolean repaired) {}

    /** Called when a slot has been rebuilt. */
    default void rebuilt(int slot) {}

    /**
     * Like {@link #rebuilt(int)}, but with the number of blocks that were lost.
     *
     * @param lostBlocks blocks that could not be recovered, and are lost until they are written
     */
    default void rebuilt(int slot, long lostBlocks) { rebuilt(slot); }
}
