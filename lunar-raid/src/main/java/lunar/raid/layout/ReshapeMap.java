package lunar.raid.layout;

/**
 * Maps how blocks move when a volume gets more members. The unit of progress is the <i>row</i>: row r is chunk r of
 * every member. Rows of the new layout are written one after the other, and a row holds more blocks than before; so
 * what a new row overwrites was moved before, or belongs in that row or one a little further on.
 *
 * @param before the layout with fewer members
 * @param after the layout with all members, which are of one size, the same in both
 */
public record ReshapeMap(Layout before, Layout after) {
    /**
     * Rows that are moved at once.
     *
     * @param from the first row
     * @param end the row after the last
     * @param isStaged whether they overwrite blocks of the window itself: then these must be staged elsewhere meanwhile
     */
    public record Window(long from, long end, boolean isStaged) {
        public int rows() { return (int) (end - from); }
    }

    /** Returns the relayout from the first members of a shape alone to all of them. */
    public static ReshapeMap of(Shape after, int membersBefore) {
        Shape before = Shape.of(after.level(), after.blockSize(), after.chunkBlocks(),
                membersBefore, after.memberBlocks().getFirst());
        return new ReshapeMap(Layout.of(before), Layout.of(after));
    }

    /** Whether every block is available, in whichever layout it is, while the members of these slots are lost. */
    public boolean survives(long lostSlots) {
        return before.survives(lostSlots) && after.survives(lostSlots);
    }

    /** Whether a stripe has the same blocks in both, and so the same number. */
    public boolean keepsStripes() {
        return before.stripeBlocks() == after.stripeBlocks();
    }

    /** Returns the number of rows of each member. */
    public long rows() {
        return after.shape().chunks(0);
    }

    /** Returns the number of rows after which a stripe of the new layout ends with a row. */
    public int step() {
        return step(after.shape().level(), after.shape().members());
    }

    /** Like {@link #step()}, for a level and a number of members after the change. */
    public static int step(Level level, int members) {
        return level == Level.RAID10 && members % 2 != 0 ? 2 : 1;
    }

    /** Returns the number of new stripes in the rows before a row at which a stripe begins. */
    public long stripes(long row) {
        if (row == rows()) {
            return after.stripes();
        }
        return after.code() == Code.COPIES ? row * after.shape().members() / after.units() : row;
    }

    /** Returns the number of blocks of the volume that are in place when the rows before a row are. */
    public long blocks(long row) {
        return Math.min(before.volumeBlocks(), stripes(row) * after.stripeBlocks());
    }

    /** Returns the first row that holds old blocks from {@code block} on, or their redundancy. */
    long firstRow(long block) {
        return block >= before.volumeBlocks()
                ? rows()
                : before.memberBlock(block / before.stripeBlocks(), 0) / before.chunkBlocks();
    }

    /**
     * Returns the window to move next.
     *
     * @param from the row up to which rows are in place
     * @param most rows of a window that needs no staging
     * @param staging rows that there is room to stage
     */
    public Window next(long from, int most, int staging) {
        long free = floor(firstRow(blocks(from)) - from);
        long wanted = end(from, most) - from;
        long few = end(from, Math.min(most, staging)) - from;
        if (free >= few) {
            return new Window(from, from + Math.min(wanted, free), false);
        }
        return new Window(from, from + few, true);
    }

    private long end(long from, int rows) {
        return Math.min(rows(), from + Math.max(step(), floor(rows)));
    }

    private long floor(long rows) { return rows / step() * step(); }
}
