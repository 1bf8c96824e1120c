package lunar.lucene;

/**
 * A run of adjacent units of a device.
 *
 * @param first first unit
 * @param count number of units, at least 1
 */
record UnitRun(long first, long count) {
    UnitRun {
        if (first < 0 || count < 1 || first > Long.MAX_VALUE - count) {
            throw new IllegalArgumentException("invalid run of " + count + " units at " + first);
        }
    }

    /** The unit after the last. */
    long end() { return first + count; }
}
