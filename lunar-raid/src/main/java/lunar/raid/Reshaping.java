package lunar.raid;

import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * How far the reshape of a volume is that gets more members.
 *
 * @param slotsBefore members that it had before
 * @param rows rows of its members, of a chunk each, that have what belongs there in the new layout; stable
 * @param stagingBlock block of each member, from its first, where a place is for rows that must be kept
 * @param stagingBlocks how long that is
 * @param keeper makes it stable how far it has come
 */
public record Reshaping(int slotsBefore, long rows, long stagingBlock, int stagingBlocks,
        Keeper keeper) {
    /** Makes the state of a reshape stable. Calls come one at a time; they must not block. */
    public interface Keeper {
        /**
         * All members have the units of some rows in their staging places, stable: after a crash, at any moment from
         * now on, each is to bring them in place.
         *
         * @param rows the first
         * @param staged how many
         */
        void staged(long rows, int staged, StateKeeper.Done done);

        /**
         * Rows are in place, stable; what was staged is not needed any more.
         *
         * @param from the first of those that are new
         * @param end the one after the last of all
         */
        void moved(long from, long end, StateKeeper.Done done);

        /** All rows are in place: the volume has nothing of its old layout any more, and has all its new blocks. */
        void finished(StateKeeper.Done done);
    }

    /** Told that nothing comes of a thing, or null where it may go on. */
    @FunctionalInterface
    interface Step {
        void next(@Nullable StorageException failure);
    }
}
