package lunar.raid.engine.stripe;

import java.util.Arrays;

/** Ranges of blocks that wait, first come, first served. Not thread-safe: the owner guards it. */
final class RangeQueue {
    private static final int FIRST_ROOM = 4;

    /** First blocks and ends in turn, in a ring. */
    private long[] bounds = new long[2 * FIRST_ROOM];
    private int head;
    private int count;

    boolean isEmpty() { return count == 0; }

    void add(long from, long end) {
        int room = bounds.length / 2;
        if (count == room) {
            long[] more = Arrays.copyOf(bounds, 2 * bounds.length);
            // Entries before the head come after the rest.
            System.arraycopy(bounds, 0, more, bounds.length, 2 * head);
            bounds = more;
            room *= 2;
        }
        int at = 2 * ((head + count) % room);
        bounds[at] = from;
        bounds[at + 1] = end;
        count++;
    }

    /** Returns the first block of the first range. */
    long from() { return bounds[2 * head]; }

    /** Returns the block after the last one of the first range. */
    long end() {
        return bounds[2 * head + 1];
    }

    /** Moves the start of the first range; removes the range if that is its end. */
    void advance(long to) {
        bounds[2 * head] = to;
        if (to == end()) {
            head = (head + 1) % (bounds.length / 2);
            count--;
        }
    }
}
