package lunar.raid.metadata;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.layout.Galois;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Parity;
import lunar.raid.metadata.bitmap.BadBlocks;
import lunar.raid.metadata.bitmap.BadBlocks.Range;
import lunar.raid.metadata.journal.JournalReplay.Torn;
import lunar.raid.metadata.journal.NoSpaceAtStart;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PartialRead;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import org.jspecify.annotations.Nullable;

/**
 * Mends stripes that may have old content in one part and new content in another. If all but as many units as the level
 * can lose are new, the others are computed from them. Otherwise parity is made anew from the data that are there. What
 * a missing member had is lost then, and so are blocks that cannot be read on a member that is there: they count as
 * zeroes, so that parity is true for what is left, and are bad until they are written. On a member that is there they
 * are overwritten with the zeroes that they count as. All that may be done any number of times. Blocks.
 */
final class TornStripes {
    private final VolumeRecord volume;
    /**
     * The layouts of stripes before {@link #moved}, and of all others; they differ while the volume is being reshaped.
     */
    private final Layout after;
    private final Layout before;
    /** Stripes of a level with parity have the numbers of their rows. */
    private final long moved;
    private final MemberSet members;
    private final long inSync;
    private final BadBlocks badBlocks;
    private final StripeCompletion completion;
    private final Parity parity = new Parity();
    private boolean lacksSpace;

    TornStripes(VolumeRecord volume, MemberSet members, long inSync, BadBlocks badBlocks) {
        this.volume = volume;
        ReshapeRecord reshape = volume.reshape();
        after = Layout.of(volume.shape());
        before = reshape == null ? after : reshape.map(volume).before();
        moved = reshape == null ? 0 : reshape.rows();
        this.members = members;
        this.inSync = inSync;
        this.badBlocks = badBlocks;
        completion = new StripeCompletion(volume, members);
    }

    /** Whether a member had no space for parity of data that are all there: a resync is to make it. */
    boolean lacksSpace() {
        return lacksSpace;
    }

    /**
     * Mends them. What is lost is in the list of bad blocks, stable, before anything that relies on it is written; all
     * is stable on return.
     *
     * @throws NoSpaceException where a member has no space for parity that is to be true for what is left, for a unit
     *         of a stripe that has lost another, or for the zeroes of an unreadable block; or the list is full
     * @throws StorageException where a member fails, which is to be left out then
     */
    void mend(List<Torn> stripes) throws StorageException {
        if (stripes.isEmpty()) {
            return;
        }
        var left = new ArrayList<Long>();
        var missing = new ArrayList<Range>();
        for (Torn torn : stripes) {
            long stripe = torn.stripe();
            if (stripe >= 0 && stripe < after.stripes()
                    && !completion.complete(layout(stripe), torn)) {
                left.add(stripe);
                addMissing(layout(stripe), stripe, missing);
            }
        }
        list(missing);
        for (long stripe : left) {
            mend(layout(stripe), stripe);
        }
        flush();
    }

    private void flush() throws StorageException {
        for (long left = members.active(); left != 0; left &= left - 1) {
            BlockDevice device = members.device(Long.numberOfTrailingZeros(left));
            if (device != null) {
                device.flush();
            }
        }
    }

    private Layout layout(long stripe) { return stripe < moved ? after : before; }

    private void list(List<Range> lost) throws StorageException {
        if (!lost.isEmpty()) {
            badBlocks.addNow(lost);
        }
    }

    private void addMissing(Layout layout, long stripe, List<Range> missing) {
        for (int unit = 0; unit < layout.dataUnits(); unit++) {
            if (source(layout, stripe, unit) == null) {
                missing.add(new Range(layout.slot(stripe, unit), layout.memberBlock(stripe, unit),
                        layout.chunkBlocks()));
            }
        }
    }

    private void mend(Layout layout, long stripe) throws StorageException {
        long chunkBytes = volume.shape().chunkBytes();
        var data = new ArrayList<MemorySegment>();
        var unreadable = new ArrayList<Range>();
        boolean isWhole = true;
        try (Arena arena = Arena.ofShared()) {
            for (int unit = 0; unit < layout.dataUnits(); unit++) {
                MemorySegment content = arena.allocate(chunkBytes, Page.BYTES); // zeroes
                BlockDevice device = source(layout, stripe, unit);
                if (device == null) {
                    isWhole = false;
                } else {
                    read(device, layout, stripe, unit, content, unreadable);
                }
                data.add(content);
            }
            list(unreadable);
            zero(stripe, unreadable, arena.allocate(chunkBytes, Page.BYTES));
            writeParity(layout, stripe, data, isWhole, arena.allocate(chunkBytes, Page.BYTES));
        }
    }

    /** The member that has a unit; null where it is missing, or has not been rebuilt that far. */
    private @Nullable BlockDevice source(Layout layout, long stripe, int unit) {
        int slot = layout.slot(stripe, unit);
        return (inSync & 1L << slot) == 0 && !volume.hasRebuilt(slot, stripe)
                ? null
                : members.device(slot);
    }

    private void read(BlockDevice device, Layout layout, long stripe, int unit,
            MemorySegment content, List<Range> unreadable) throws StorageException {
        int slot = layout.slot(stripe, unit);
        long first = layout.memberBlock(stripe, unit);
        for (PartialRead.Unreadable one : PartialRead.read(device, atBytes(first), content)) {
            unreadable.add(new Range(slot, first + one.from(), one.blocks()));
        }
    }

    /** Writes zeroes where parity will have them. */
    private void zero(long stripe, List<Range> lost, MemorySegment zeroes)
            throws StorageException {
        for (Range range : lost) {
            try {
                write(range.slot(), range.block(), zeroes.asSlice(0,
                        (long) range.blocks() * volume.description().blockSize()));
            } catch (NoSpaceException e) {
                throw NoSpaceAtStart.of(volume, range.slot(), "zeroes in place of blocks of stripe "
                        + stripe + " that cannot be read", e);
            }
        }
    }

    private void writeParity(Layout layout, long stripe, List<MemorySegment> data,
            boolean isWhole, MemorySegment computed) throws StorageException {
        for (int unit = layout.dataUnits(); unit < layout.units(); unit++) {
            int power = unit - layout.dataUnits(); // P has the generator's power 0 of each unit, Q its first
            parity.clear();
            for (int i = 0; i < data.size(); i++) {
                parity.add(data.get(i), Galois.power(i * power));
            }
            parity.into(computed);
            int slot = layout.slot(stripe, unit);
            try {
                write(slot, layout.memberBlock(stripe, unit), computed);
            } catch (NoSpaceException e) {
                if (!isWhole) {
                    throw NoSpaceAtStart.of(volume, slot, "the parity of stripe " + stripe
                            + ", some data of which are lost", e);
                }
                lacksSpace = true;
            }
        }
    }

    private void write(int slot, long memberBlock, MemorySegment content)
            throws StorageException {
        BlockDevice device = members.device(slot);
        if (device != null && (members.active() & 1L << slot) != 0) {
            ChunkedTransfer.write(device, atBytes(memberBlock), content);
        }
    }

    private long atBytes(long memberBlock) {
        VolumeDescription what = volume.description();
        return what.layout().dataBytes() + memberBlock * what.blockSize();
    }
}
