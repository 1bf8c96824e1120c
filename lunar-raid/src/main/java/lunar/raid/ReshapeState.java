package lunar.raid;

/**
 * The progress of a reshape of a volume that gets more members.
 *
 * @param slotsBefore number of members before the reshape
 * @param rows rows of its members, of a chunk each, that are in place in the new layout; stable
 * @param stagingBlock block of each member, from its first, at which the staging area begins
 * @param stagingBlocks length of the staging area
 * @param keeper makes the progress stable
 */
public record ReshapeState(int slotsBefore, long rows, long stagingBlock, int stagingBlocks,
        Keeper keeper) {
    /** Makes the state of a reshape stable. Calls come one at a time; they must not block. */
    public interface Keeper {
        /**
         * Notes that all members have the units of some rows in their staging areas, stable: after a crash, at any
         * moment from now on, these are to be copied in place.
         *
         * @param rows the first row
         * @param staged number of rows
         */
        void staged(long rows, int staged, Completion done);

        /**
         * Notes that rows are in place, stable; what was staged is not needed any more.
         *
         * @param from the first row that was moved
         * @param end the row after the last that is in place
         */
        void moved(long from, long end, Completion done);

        /** Notes that all rows are in place: no block is in the old layout, and the volume has all its new blocks. */
        void finished(Completion done);
    }

}
