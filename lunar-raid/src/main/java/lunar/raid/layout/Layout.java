package lunar.raid.layout;

/**
 * Maps the blocks of a volume to its members. The volume is cut into stripes of equal size: the data units of a stripe
 * hold neighbouring blocks, one unit after the other. A unit is a chunk on the member of one slot.
 *
 * <p>Sets of slots and of units are longs: bit i is slot or unit i.
 */
public sealed interface Layout permits LinearLayout, Raid0Layout, Raid1Layout, Raid5Layout,
        Raid6Layout, Raid10Layout {
    /** The layout of a shape. */
    static Layout of(Shape shape) {
        return switch (shape.level()) {
            case LINEAR -> new LinearLayout(shape);
            case RAID0 -> new Raid0Layout(shape);
            case RAID1 -> new Raid1Layout(shape);
            case RAID5 -> new Raid5Layout(shape);
            case RAID6 -> new Raid6Layout(shape);
            case RAID10 -> new Raid10Layout(shape);
        };
    }

    Shape shape();

    /** How redundant units follow from data units. */
    Code code();

    long stripes();

    /** Data units of each stripe. */
    int dataUnits();

    /** Data and redundant units of each stripe; the latter come last. */
    int units();

    /** The slot that holds a unit of a stripe. */
    int slot(long stripe, int unit);

    /** The block of its slot's data area at which a unit of a stripe begins. */
    long memberBlock(long stripe, int unit);

    /** Whether every block is available while the members of these slots are lost. */
    boolean survives(long lostSlots);

    /**
     * Returns the number of blocks from {@code block} on that are contiguous on a member, too, on each that has them.
     */
    default long runBlocks(long block) { return chunkBlocks() - block % chunkBlocks(); }

    /** Blocks of the volume. */
    default long volumeBlocks() { return stripes() * stripeBlocks(); }

    /** Blocks of data in a stripe. */
    default int stripeBlocks() {
        return dataUnits() * chunkBlocks();
    }

    /** Blocks of a unit. */
    default int chunkBlocks() { return shape().chunkBlocks(); }

    /** The unit of a stripe that a slot holds, or -1 where it holds none. */
    default int unit(long stripe, int slot) {
        for (int unit = 0; unit < units(); unit++) {
            if (slot(stripe, unit) == slot) {
                return unit;
            }
        }
        return -1;
    }

    /** The units of a stripe that a set of slots holds. */
    default long units(long stripe, long slots) {
        long units = 0;
        if (slots != 0) {
            for (int unit = 0; unit < units(); unit++) {
                units |= (slots >>> slot(stripe, unit) & 1) << unit;
            }
        }
        return units;
    }

    /** Returns the set of all units, or of all slots, for their number. */
    static long all(int count) {
        return count == Long.SIZE ? -1 : (1L << count) - 1;
    }

    /** Returns how many slots of a set a shape has. */
    static int count(Shape shape, long slots) {
        return Long.bitCount(slots & all(shape.members()));
    }
}
