package lunar.filter;

/**
 * A map of fixed size from page numbers to slots, which allocates nothing after construction. Open addressing with
 * linear probing; removal leaves no tombstones (Knuth, TAOCP volume 3, algorithm 6.4R).
 */
final class LongIntMap {
    static final int NONE = -1;
    /** Golden ratio: consecutive pages are spread. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final long[] keys;
    /** Value plus one; 0 where there is no entry. */
    private final int[] values;
    private final int mask;
    private final int shift;

    /** @param maxEntries maximum number of entries */
    LongIntMap(int maxEntries) {
        int length = Math.max(2, Integer.highestOneBit(Math.max(1, maxEntries - 1)) << 2);
        keys = new long[length];
        values = new int[length];
        mask = length - 1;
        shift = Long.numberOfLeadingZeros(mask);
    }

    private int home(long key) { return (int) ((key * SPREAD) >>> shift); }

    private int find(long key) {
        int at = home(key);
        while (values[at] != 0 && keys[at] != key) {
            at = (at + 1) & mask;
        }
        return at;
    }

    /** The value of a key, or NONE. */
    int get(long key) { return values[find(key)] - 1; }

    void put(long key, int value) {
        int at = find(key);
        keys[at] = key;
        values[at] = value + 1;
    }

    /** Removes a key, and returns its value or NONE. */
    int remove(long key) {
        int hole = find(key);
        int value = values[hole] - 1;
        if (value == NONE) {
            return NONE;
        }
        for (int at = (hole + 1) & mask; values[at] != 0; at = (at + 1) & mask) {
            // An entry fills the hole unless its home is after it: a search for it would not pass here.
            if (((at - home(keys[at])) & mask) >= ((at - hole) & mask)) {
                keys[hole] = keys[at];
                values[hole] = values[at];
                hole = at;
            }
        }
        values[hole] = 0;
        return value;
    }
}
