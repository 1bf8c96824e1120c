package lunar.raid.simulation;

import java.util.Arrays;
import java.util.BitSet;
import java.util.function.LongSupplier;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;

/**
 * Blocks of a volume of which more was lost than its level survives: reading them may fail, until they are written
 * again, but never returns anything else than their content. Changes in their stripes may fail, too, and a crash may
 * take what was written to them, until a flush has followed. Computed from what is bad on the members, row by row.
 */
final class ExcessLossCheck {
    private final SimWorld world;
    private final LongSupplier incomplete;
    private final BitSet blocks = new BitSet();
    /** When each block was among them the last time. */
    private final long[] lastSeen;
    /** These blocks, and all that was written to them without a flush since. */
    private final BitSet unflushed = new BitSet();
    /** When each block was written so that it is not among them any more. */
    private final long[] writtenAt;
    private long now = 1;
    private int lossesSeen;
    /** When a member has lost something the last time. */
    private long lastLoss;

    /** @param incomplete slots whose member does not have everything */
    ExcessLossCheck(SimWorld world, LongSupplier incomplete) {
        this.world = world;
        this.incomplete = incomplete;
        lastSeen = new long[(int) world.layout.volumeBlocks()];
        writtenAt = new long[lastSeen.length];
    }

    /** A moment, for {@link #hasBeenIn}. */
    long now() { return now; }

    /** Looks at the members again. To be called whenever something may have happened to them. */
    void update() {
        if (!world.faults.excess()) {
            return;
        }
        now++;
        if (world.losses != lossesSeen) {
            lossesSeen = world.losses;
            lastLoss = now;
        }
        Layout layout = world.layout;
        long slots = incomplete.getAsLong();
        for (long stripe = 0; stripe < layout.stripes(); stripe++) {
            long missing = layout.units(stripe, slots);
            for (int row = 0; row < SimWorld.CHUNK_BLOCKS; row++) {
                update(layout, stripe, row, missing | bad(layout, stripe, row));
            }
        }
        blocks.stream().forEach(block -> lastSeen[block] = now);
        unflushed.or(blocks);
    }

    private long bad(Layout layout, long stripe, int row) {
        long bad = 0;
        for (int unit = 0; unit < layout.units(); unit++) {
            SimMember member = world.members.get(layout.slot(stripe, unit));
            int at = world.dataOffset() + (int) layout.memberBlock(stripe, unit) + row;
            bad |= member.bad().get(at) ? 1L << unit : 0;
        }
        return bad;
    }

    private void update(Layout layout, long stripe, int row, long unreadable) {
        boolean areCopies = layout.code() == Code.COPIES;
        int survived = areCopies ? layout.units() - 1 : layout.units() - layout.dataUnits();
        if (Long.bitCount(unreadable) <= survived) {
            return;
        }
        int first = (int) (stripe * layout.stripeBlocks()) + row;
        for (int unit = 0; unit < (areCopies ? 1 : layout.dataUnits()); unit++) {
            if ((unreadable >>> unit & 1) != 0) {
                blocks.set(first + unit * SimWorld.CHUNK_BLOCKS);
            }
        }
    }

    /** A write that began at some moment has ended well. What was lost since may be of what it had written already. */
    void written(int from, int count, long since) {
        update();
        if (lastLoss <= since) {
            blocks.clear(from, from + count);
            Arrays.fill(writtenAt, from, from + count, now);
        }
    }

    /** A flush that began at some moment has ended well: what was written before is stable. */
    void flushed(long since) {
        update();
        for (int block = unflushed.nextSetBit(0); block >= 0; block = unflushed
                .nextSetBit(block + 1)) {
            if (!blocks.get(block) && writtenAt[block] <= since) {
                unflushed.clear(block);
            }
        }
    }

    /** Whether a crash may leave a block without content. */
    boolean mayHaveNoContent(int block) {
        return unflushed.get(block);
    }

    /** Whether one of some blocks was among them at some time since a moment. */
    boolean hasBeenIn(int from, int count, long since) {
        for (int block = from; block < from + count; block++) {
            if (lastSeen[block] >= since) {
                return true;
            }
        }
        return false;
    }

    /** Whether one of the stripes that some blocks are in had such blocks at some time since a moment. */
    boolean hasBeenInStripesOf(int from, int count, long since) {
        int stripe = world.layout.stripeBlocks();
        int first = from / stripe * stripe;
        int end = Math.ceilDiv(from + count, stripe) * stripe;
        return hasBeenIn(first, end - first, since);
    }

    /** The first of them from a block on; -1 where there is none. */
    int next(int from) {
        return blocks.nextSetBit(from);
    }
}
