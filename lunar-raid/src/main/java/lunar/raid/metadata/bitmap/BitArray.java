package lunar.raid.metadata.bitmap;

/** Sets of bits in longs, of a size that is known before. */
final class BitArray {
    private BitArray() {}

    static long[] of(int bits) { return new long[Math.ceilDiv(bits, Long.SIZE)]; }

    static boolean has(long[] set, int bit) { return (set[bit / Long.SIZE] & 1L << bit) != 0; }

    static void add(long[] set, int bit) { set[bit / Long.SIZE] |= 1L << bit; }

    static void remove(long[] set, int bit) { set[bit / Long.SIZE] &= ~(1L << bit); }

    static int count(long[] set) {
        int count = 0;
        for (long word : set) {
            count += Long.bitCount(word);
        }
        return count;
    }

    /** The first member from {@code from} on, or -1. */
    static int next(long[] set, int from) {
        int word = from / Long.SIZE;
        if (word >= set.length) {
            return -1;
        }
        long bits = set[word] & -1L << from;
        while (bits == 0) {
            word++;
            if (word == set.length) {
                return -1;
            }
            bits = set[word];
        }
        return word * Long.SIZE + Long.numberOfTrailingZeros(bits);
    }
}
