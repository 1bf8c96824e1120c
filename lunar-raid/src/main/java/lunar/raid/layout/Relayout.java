package lunar.raid.layout;

/**
 * How blocks move when a volume gets members more. It is walked over by <i>rows</i>: row r is the chunk r of every
 * member. Rows of the new layout are made one after the other, and a row holds more blocks than it did before; so what
 * a new row writes over was moved before, or belongs into that row or one a little further on.
 *
 * @param before with fewer members
 * @param after with all; members are of one size, the same in both
 */
public record Relayout(Layout before, Layout after) {
    /**
     * Rows that are moved at once.
     *
     * @param from the first
     * @param end the one after the last
     * @param isStaged whether they write over blocks that are in them: then these must be kept somewhere else meanwhile
     */
    public record Window(long from, long end, boolean isStaged) {
        public int rows() { return (int) (end - from); }
    }

    /** The layout of a shape, and that of its first members alone. */
    public static Relayout of(Shape after, int membersBefore) {
        Shape before = Shape.of(after.level(), after.blockSize(), after.chunkBlocks(),
                membersBefore, after.memberBlocks().getFirst());
        return new Relayout(Layout.of(before), Layout.of(after));
    }

    /** Whether every block can be had, in whichever layout it is, while the members of these slots are lost. */
    public boolean survives(long lostSlots) {
        return before.survives(lostSlots) && after.survives(lostSlots);
    }

    /** Whether a stripe has the same blocks in both, and so the same number. */
    public boolean keepsStripes() {
        return before.stripeBlocks() == after.stripeBlocks();
    }

    /** Rows of each member. */
    public long rows() { return after.shape().chunks(0); }

    /** Stripes of the new layout end with each row, or with one in so many. */
    public int step() {
        return step(after.shape().level(), after.shape().members());
    }

    /** The same for a level and so many members after. */
    public static int step(Level level, int members) {
        return level == Level.RAID10 && members % 2 != 0 ? 2 : 1;
    }

    /** New stripes in the rows before one, at which a stripe begins. */
    public long stripes(long row) {
        if (row == rows()) {
            return after.stripes();
        }
        return after.code() == Code.COPIES ? row * after.shape().members() / after.units() : row;
    }

    /** Blocks of the volume that are in place when the rows before one are. */
    public long blocks(long row) {
        return Math.min(before.volumeBlocks(), stripes(row) * after.stripeBlocks());
    }

    /** The first row in which there is an old block from one on, or what is redundant with it. */
    long firstRow(long block) {
        return block >= before.volumeBlocks()
                ? rows()
                : before.memberBlock(block / before.stripeBlocks(), 0) / before.chunkBlocks();
    }

    /**
     * What is moved next.
     *
     * @param from rows before it are in place
     * @param most rows at once, where nothing needs to be kept
     * @param staging rows that there is room to keep
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
