package lunar.filter;

import java.util.Arrays;

/**
 * Linked queue of slots: each slot is in at most one queue, and can be removed from any position. Queues of one cache
 * share the links.
 */
final class SlotQueue {
    static final int NONE = -1;

    /** Neighbours of each slot. */
    static final class Links {
        private final int[] newer;
        private final int[] older;

        Links(int slots) {
            newer = new int[slots];
            older = new int[slots];
            Arrays.fill(newer, NONE);
            Arrays.fill(older, NONE);
        }
    }

    private final Links links;
    private int newest = NONE;
    private int oldest = NONE;
    private int size;

    SlotQueue(Links links) { this.links = links; }

    int size() { return size; }

    /** The slot that came first, or NONE. */
    int oldest() { return oldest; }

    void add(int slot) {
        links.newer[slot] = NONE;
        links.older[slot] = newest;
        if (newest == NONE) {
            oldest = slot;
        } else {
            links.newer[newest] = slot;
        }
        newest = slot;
        size++;
    }

    /** The slot must be in this queue. */
    void remove(int slot) {
        int before = links.older[slot];
        int after = links.newer[slot];
        if (before == NONE) {
            oldest = after;
        } else {
            links.newer[before] = after;
        }
        if (after == NONE) {
            newest = before;
        } else {
            links.older[after] = before;
        }
        size--;
    }
}
