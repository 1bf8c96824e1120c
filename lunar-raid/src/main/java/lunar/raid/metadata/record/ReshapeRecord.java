package lunar.raid.metadata.record;

import lunar.raid.layout.ReshapeMap;
import lunar.raid.layout.Shape;

/**
 * How far a volume is that is being reshaped, as its superblocks tell it. A row is a chunk of each member.
 *
 * @param slotsBefore slots that it had before
 * @param rows rows before this one are in the layout of all slots
 * @param stagedRows rows from there on that are in the staging places, and to be brought in place
 */
public record ReshapeRecord(int slotsBefore, long rows, int stagedRows) {
    public ReshapeRecord {
        if (slotsBefore <= 0 || rows < 0 || stagedRows < 0) {
            throw new IllegalArgumentException("impossible: a reshape from " + slotsBefore
                    + " slots, " + rows + " rows and " + stagedRows + " staged");
        }
    }

    /** Holds it against the volume that says so, and its shape. */
    void check(VolumeDescription what, Shape shape) {
        long all = shape.chunks(0);
        int step = ReshapeMap.step(what.level(), what.slots());
        if (!canBe(what) || slotsBefore >= what.slots() || rows > all || stagedRows > all - rows
                || slotsBefore < what.level().minMembers()
                || (long) Math.max(stagedRows, step) * what.chunkBlocks() > stagingBlocks(what)
                || splitsStripe(rows, all, step)
                || splitsStripe(rows + stagedRows, all, step)) {
            throw new IllegalArgumentException("impossible: " + this + " of " + what.level());
        }
    }

    private static boolean splitsStripe(long row, long all, int step) {
        return row != all && row % step != 0;
    }

    /** Whether a volume could ever be reshaped. */
    public static boolean canBe(VolumeDescription what) {
        return switch (what.level()) {
            case RAID0, RAID10 -> true;
            case RAID5, RAID6 -> what.consistency() == Consistency.JOURNAL;
            case LINEAR, RAID1 -> false;
        };
    }

    /** Rows up to this one. */
    public ReshapeRecord moved(long end) {
        return new ReshapeRecord(slotsBefore, end, 0);
    }

    public ReshapeMap map(VolumeRecord volume) {
        return ReshapeMap.of(volume.shape(), slotsBefore);
    }

    /** Returns the block of members at which the staging area begins. */
    public static long stagingBlock(VolumeDescription what) {
        return what.layout().stagingBytes() / what.blockSize();
    }

    /** Returns the length of the staging area in blocks. */
    public static int stagingBlocks(VolumeDescription what) {
        return (int) (what.layout().stagingLengthBytes() / what.blockSize());
    }
}
