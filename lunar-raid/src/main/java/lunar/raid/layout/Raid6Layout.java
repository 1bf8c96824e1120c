package lunar.raid.layout;

/**
 * Two parities, left-symmetric, as Linux md's ALGORITHM_LEFT_SYMMETRIC of RAID 6: P of stripe s is on slot
 * n-1 - s mod n, Q on the next, and the data follow them round the ring.
 *
 * <pre>
 * slot     0   1   2   3   4
 * stripe 0 Q   D0  D1  D2  P
 *        1 D0  D1  D2  P   Q
 *        2 D1  D2  P   Q   D0
 * </pre>
 */
record Raid6Layout(Shape shape) implements Layout {
    @Override
    public Code code() { return Code.PQ; }

    @Override
    public long stripes() { return shape.chunks(0); }

    @Override
    public int dataUnits() { return shape.members() - 2; }

    @Override
    public int units() { return shape.members(); }

    @Override
    public int slot(long stripe, int unit) {
        int members = shape.members();
        int p = members - 1 - (int) (stripe % members);
        int afterP = switch (members - unit) {
            case 2 -> 0; // P
            case 1 -> 1; // Q
            default -> 2 + unit;
        };
        return (p + afterP) % members;
    }

    @Override
    public long memberBlock(long stripe, int unit) { return stripe * chunkBlocks(); }

    @Override
    public boolean survives(long lostSlots) { return Layout.count(shape, lostSlots) <= 2; }
}
