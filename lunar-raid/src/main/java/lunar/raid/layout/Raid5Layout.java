package lunar.raid.layout;

/**
 * A single parity, left-symmetric, as Linux md's ALGORITHM_LEFT_SYMMETRIC: the parity of stripe s is on slot n-1 - s
 * mod n, and the data follow it round the ring. So neighbouring chunks are on neighbouring slots, also from one stripe
 * to the next: n chunks in a row use every member once.
 *
 * <pre>
 * slot     0   1   2   3
 * stripe 0 D0  D1  D2  P
 *        1 D1  D2  P   D0
 *        2 D2  P   D0  D1
 *        3 P   D0  D1  D2
 * </pre>
 */
record Raid5Layout(Shape shape) implements Layout {
    @Override
    public Code code() { return Code.P; }

    @Override
    public long stripes() { return shape.chunks(0); }

    @Override
    public int dataUnits() { return shape.members() - 1; }

    @Override
    public int units() { return shape.members(); }

    @Override
    public int slot(long stripe, int unit) {
        int members = shape.members();
        int parity = members - 1 - (int) (stripe % members);
        return unit == members - 1 ? parity : (parity + 1 + unit) % members;
    }

    @Override
    public long memberBlock(long stripe, int unit) { return stripe * chunkBlocks(); }

    @Override
    public boolean survives(long lostSlots) { return Layout.count(shape, lostSlots) <= 1; }
}
