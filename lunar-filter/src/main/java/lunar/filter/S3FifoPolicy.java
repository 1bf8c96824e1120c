package lunar.filter;

import java.util.Arrays;

/**
 * S3-FIFO (Yang, Zhang, Qiu, Yue, Vinayak: "FIFO queues are all you need for cache eviction", SOSP 2023).
 *
 * <p>A page starts in a small queue, a tenth of the cache. If it is used twice before it reaches the end, it moves to
 * the main queue; otherwise it is evicted, and its number is remembered in the ghost queue for as long as the main
 * queue would have kept it. A page that is read again meanwhile enters the main queue directly. There each use, up to
 * three, grants another round. A scan passes through the small queue and leaves the main one alone.
 */
final class S3FifoPolicy implements CachePolicy {
    private static final int SMALL_SHARE = 10;
    private static final byte MAX_USES = 3;

    private final SlotQueue small;
    private final SlotQueue main;
    private final int smallSlots;
    private final long[] pages;
    private final byte[] uses;
    private final boolean[] inMain;
    /** The pages that left the small queue, in a ring; the map tells where one is. */
    private final long[] ghosts;
    private final LongIntMap ghostAt;
    private int nextGhost;

    S3FifoPolicy(int slots) {
        var links = new SlotQueue.Links(slots);
        small = new SlotQueue(links);
        main = new SlotQueue(links);
        smallSlots = Math.max(1, slots / SMALL_SHARE);
        pages = new long[slots];
        uses = new byte[slots];
        inMain = new boolean[slots];
        ghosts = new long[Math.max(1, slots - smallSlots)];
        Arrays.fill(ghosts, -1);
        ghostAt = new LongIntMap(ghosts.length);
    }

    @Override
    public void added(int slot, long page) {
        pages[slot] = page;
        uses[slot] = 0;
        inMain[slot] = ghostAt.remove(page) != LongIntMap.NONE;
        queueOf(slot).add(slot);
    }

    private SlotQueue queueOf(int slot) { return inMain[slot] ? main : small; }

    @Override
    public void used(int slot) {
        if (uses[slot] < MAX_USES) {
            uses[slot]++;
        }
    }

    @Override
    public void removed(int slot) { queueOf(slot).remove(slot); }

    @Override
    public int evict() {
        while (small.size() >= smallSlots || main.size() == 0) {
            int slot = small.oldest();
            small.remove(slot);
            if (uses[slot] <= 1) {
                remember(pages[slot]);
                return slot;
            }
            uses[slot] = 0;
            inMain[slot] = true;
            main.add(slot);
        }
        for (;;) {
            int slot = main.oldest();
            main.remove(slot);
            if (uses[slot] == 0) {
                return slot;
            }
            uses[slot]--;
            main.add(slot);
        }
    }

    private void remember(long page) {
        long forgotten = ghosts[nextGhost];
        if (ghostAt.get(forgotten) == nextGhost) { // otherwise it was read again and evicted again
            ghostAt.remove(forgotten);
        }
        ghosts[nextGhost] = page;
        ghostAt.put(page, nextGhost);
        nextGhost = (nextGhost + 1) % ghosts.length;
    }

    @Override
    public String toString() { return "s3-fifo"; }
}
