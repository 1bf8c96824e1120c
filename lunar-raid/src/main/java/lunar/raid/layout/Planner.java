package lunar.raid.layout;

import org.jspecify.annotations.Nullable;

/**
 * Says what a request to one stripe takes. Ranges of data are in blocks of the stripe's data, ranges of units in
 * blocks of a unit. Sets of units are longs. All stripes of a layout are alike, so none is named.
 */
public interface Planner {
    /** The planner of a layout. */
    static Planner of(Layout layout) {
        return new PlanCache(new StripePlanner(layout));
    }

    /**
     * A read of data into the buffer.
     *
     * @param unreadable units that cannot be read, or must not
     * @param preferred the copy to read where there are several
     * @return null where the data cannot be had
     */
    @Nullable
    Plan read(int from, int blocks, long unreadable, int preferred);

    /**
     * A write of data out of the buffer.
     *
     * @param unreadable units that cannot be read, or must not
     * @param unwritable units that cannot be written, each unreadable, too
     * @return null where what is needed cannot be read; it always can where nothing but writable units is unreadable
     *         and the stripe is written whole
     */
    @Nullable
    Plan write(int from, int blocks, long unreadable, long unwritable);

    /**
     * Computes a range of units out of others, and writes it.
     *
     * @param units what is computed; each is taken for unreadable
     * @return null where they cannot be computed
     */
    @Nullable
    Plan restore(long units, int from, int blocks, long unreadable);

    /**
     * Reads a range of all units, and makes each redundant unit in the scratch its difference from what it should be:
     * all zeroes where the stripe is right. The data units are in the scratch, too.
     *
     * @param unreadable units that cannot be read; a redundant one is left out
     * @return null where a data unit cannot be read, or nothing is left to compare
     */
    @Nullable
    Plan verify(int from, int blocks, long unreadable);
}
