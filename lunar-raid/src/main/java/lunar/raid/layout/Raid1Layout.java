package lunar.raid.layout;

/** A copy on every member. A stripe is one chunk, so that what is locked and rebuilt at once is bounded. */
record Raid1Layout(Shape shape) implements Layout {
    @Override
    public Code code() { return Code.COPIES; }

    @Override
    public long stripes() { return shape.chunks(0); }

    @Override
    public int dataUnits() { return 1; }

    @Override
    public int units() { return shape.members(); }

    @Override
    public int slot(long stripe, int unit) { return unit; }

    @Override
    public long memberBlock(long stripe, int unit) { return stripe * chunkBlocks(); }

    @Override
    public long runBlocks(long block) { return volumeBlocks() - block; }

    @Override
    public boolean survives(long lostSlots) {
        return Layout.count(shape, lostSlots) < shape.members();
    }
}
