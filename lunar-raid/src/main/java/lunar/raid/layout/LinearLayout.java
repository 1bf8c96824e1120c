package lunar.raid.layout;

import java.util.Arrays;

/** Concatenates the members, each as far as it has whole chunks. A stripe is one chunk. */
final class LinearLayout implements Layout {
    private final Shape shape;
    private final long[] ends;

    LinearLayout(Shape shape) {
        this.shape = shape;
        this.ends = ends(shape);
    }

    /** Returns the stripe after the last one of each member. */
    private static long[] ends(Shape shape) {
        var ends = new long[shape.members()];
        long end = 0;
        for (int slot = 0; slot < ends.length; slot++) {
            end += shape.chunks(slot);
            ends[slot] = end;
        }
        return ends;
    }

    @Override
    public Shape shape() { return shape; }

    @Override
    public Code code() { return Code.NONE; }

    @Override
    public long stripes() { return ends[ends.length - 1]; }

    @Override
    public int dataUnits() { return 1; }

    @Override
    public int units() { return 1; }

    @Override
    public int slot(long stripe, int unit) {
        int at = Arrays.binarySearch(ends, stripe);
        return at >= 0 ? at + 1 : -at - 1;
    }

    @Override
    public long memberBlock(long stripe, int unit) {
        int slot = slot(stripe, unit);
        return (stripe - (slot == 0 ? 0 : ends[slot - 1])) * chunkBlocks();
    }

    @Override
    public long runBlocks(long block) {
        return ends[slot(block / chunkBlocks(), 0)] * chunkBlocks() - block;
    }

    @Override
    public boolean survives(long lostSlots) { return Layout.count(shape, lostSlots) == 0; }
}
