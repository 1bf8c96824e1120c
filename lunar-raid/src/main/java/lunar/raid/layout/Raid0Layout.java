package lunar.raid.layout;

/** Chunks in turn over all members (S-iRAID). */
record Raid0Layout(Shape shape) implements Layout {
    @Override
    public Code code() { return Code.NONE; }

    @Override
    public long stripes() { return shape.chunks(0); }

    @Override
    public int dataUnits() { return shape.members(); }

    @Override
    public int units() { return shape.members(); }

    @Override
    public int slot(long stripe, int unit) { return unit; }

    @Override
    public long memberBlock(long stripe, int unit) { return stripe * chunkBlocks(); }

    @Override
    public boolean survives(long lostSlots) { return Layout.count(shape, lostSlots) == 0; }
}
