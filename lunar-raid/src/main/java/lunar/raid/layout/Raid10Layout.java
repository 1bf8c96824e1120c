package lunar.raid.layout;

/**
 * Each chunk on two neighbours, as Linux md's near=2, also over an odd number of members. A stripe is one chunk.
 *
 * <pre>
 * slot  0  1  2  3      0  1  2
 *       0  0  1  1      0  0  1
 *       2  2  3  3      1  2  2
 * </pre>
 */
record Raid10Layout(Shape shape) implements Layout {
    private static final int COPIES = 2;

    @Override
    public Code code() { return Code.COPIES; }

    /** With an odd number of members and of rows, one chunk is left over that has no room for its copy. */
    @Override
    public long stripes() { return shape.chunks(0) * shape.members() / COPIES; }

    @Override
    public int dataUnits() { return 1; }

    @Override
    public int units() { return COPIES; }

    @Override
    public int slot(long stripe, int unit) {
        return (int) ((stripe * COPIES + unit) % shape.members());
    }

    @Override
    public long memberBlock(long stripe, int unit) {
        return (stripe * COPIES + unit) / shape.members() * chunkBlocks();
    }

    @Override
    public boolean survives(long lostSlots) {
        int members = shape.members();
        int step = members % COPIES == 0 ? COPIES : 1;
        for (int slot = 0; slot < members; slot += step) {
            int next = (slot + 1) % members;
            if ((lostSlots >>> slot & lostSlots >>> next & 1) != 0) {
                return false;
            }
        }
        return true;
    }
}
