package lunar.raid.layout;

import org.jspecify.annotations.Nullable;

/**
 * Plans requests to one stripe. Ranges of data are in blocks of the stripe's data, ranges of units in blocks of a unit.
 * Sets of units are longs. All stripes of a layout are alike, so plans hold for any of them.
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
     * @return null if the data are not available
     */
    @Nullable
    Plan read(int from, int blocks, long unreadable, int preferred);

    /**
     * A write of data out of the buffer.
     *
     * @param unreadable units that cannot be read, or must not
     * @param unwritable units that cannot be written, each unreadable, too
     * @return null if a unit that is needed cannot be read; never null if only writable units are unreadable and the
     *        stripe is written whole
     */
    @Nullable
    Plan write(int from, int blocks, long unreadable, long unwritable);

    /**
     * Computes a range of units from others, and writes it.
     *
     * @param units units to compute; each counts as unreadable
     * @return null if they cannot be computed
     */
    @Nullable
    Plan restore(long units, int from, int blocks, long unreadable);

    /**
     * Reads a range of all units, and replaces each redundant unit in the scratch by its difference from its expected
     * content: all zeroes if the stripe is consistent. The data units are in the scratch, too.
     *
     * @param unreadable units that cannot be read; a redundant one is left out
     * @return null if a data unit cannot be read, or nothing is left to compare
     */
    @Nullable
    Plan verify(int from, int blocks, long unreadable);
}
