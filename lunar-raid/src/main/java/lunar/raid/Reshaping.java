package lunar.raid;

import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a reshape of a volume that gets more members.
 *
 * @param slotsBefore number of members before the reshape
 * @param rows rows of its members, of a chunk each, that are in place in the new layout; stable
 * @param stagingBlock block of each member, from its first, at which the staging place begins
 * @param stagingBlocks length of the staging place
 * @param keeper makes the progress stable
 */
public record Reshaping(int slotsBefore, long rows, long stagingBlock, int stagingBlocks,
        Keeper keeper) {
    /** Makes the state of a reshape stable. Calls come one at a time; they must not block. */
    public interface Keeper {
        /**
         * Notes that all members have the units of some rows in their staging places, stable: after a crash, at any
         * moment from now on, these are to be copied in place.
         *
         * @param rows the first row
         * @param staged number of rows
         */
        void staged(long rows, int staged, StateKeeper.Done done);

        /**
         * Notes that rows are in place, stable; what was staged is not needed any more.
         *
         * @param from the first row that was moved
         * @param end the row after the last that is in place
         */
        void moved(long from, long end, StateKeeper.Done done);

        /** Notes that all rows are in place: no block is in the old layout, and the volume has all its new blocks. */
        void finished(StateKeeper.Done done);
    }

    /** Called with why a step has failed, or null if the work may go on. */
    @FunctionalInterface
    public interface Step {
        void next(@Nullable StorageException failure);
    }
}
