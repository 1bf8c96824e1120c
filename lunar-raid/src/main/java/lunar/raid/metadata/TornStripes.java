package lunar.raid.metadata;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.layout.Galois;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Parity;
import lunar.raid.metadata.bitmap.BadBlocks.Range;
import lunar.raid.metadata.journal.NoSpaceAtStart;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;

/**
 * Mends stripes that may have old content in one part and new content in another. Parity is made anew from the data
 * that are there. What a missing member had is lost: it counts as zeroes, so that parity is true for what is left, and
 * its blocks are bad until they are written. Blocks.
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
    private final Parity parity = new Parity();
    private boolean lacksSpace;

    TornStripes(VolumeRecord volume, MemberSet members, long inSync) {
        this.volume = volume;
        ReshapeRecord reshape = volume.reshape();
        after = Layout.of(volume.shape());
        before = reshape == null ? after : reshape.map(volume).before();
        moved = reshape == null ? 0 : reshape.rows();
        this.members = members;
        this.inSync = inSync;
    }

    /** Whether a member had no space for parity of data that are all there: a resync is to make it. */
    boolean lacksSpace() {
        return lacksSpace;
    }

    /**
     * Mends them; what becomes bad is not yet noted. Data that cannot be read have the same fate as missing ones.
     *
     * @throws NoSpaceException where a member has no space for parity that is to be true for what is left
     */
    List<Range> mend(List<Long> stripes) throws StorageException {
        var bad = new ArrayList<Range>();
        for (long stripe : stripes) {
            if (stripe >= 0 && stripe < after.stripes()) {
                mend(stripe < moved ? after : before, stripe, bad);
            }
        }
        return bad;
    }

    private void mend(Layout layout, long stripe, List<Range> bad) throws StorageException {
        int badBefore = bad.size();
        long chunkBytes = volume.shape().chunkBytes();
        var data = new ArrayList<MemorySegment>();
        try (Arena arena = Arena.ofShared()) {
            for (int unit = 0; unit < layout.dataUnits(); unit++) {
                MemorySegment content = arena.allocate(chunkBytes, Page.BYTES);
                if (!read(layout, stripe, unit, content)) {
                    content.fill((byte) 0);
                    bad.add(new Range(layout.slot(stripe, unit), layout.memberBlock(stripe, unit),
                            layout.chunkBlocks()));
                }
                data.add(content);
            }
            MemorySegment computed = arena.allocate(chunkBytes, Page.BYTES);
            for (int unit = layout.dataUnits(); unit < layout.units(); unit++) {
                int power = unit - layout.dataUnits(); // P has the generator's power 0 of each unit, Q its first
                parity.clear();
                for (int i = 0; i < data.size(); i++) {
                    parity.add(data.get(i), Galois.power(i * power));
                }
                parity.into(computed);
                try {
                    write(layout, stripe, unit, computed);
                } catch (NoSpaceException e) {
                    if (bad.size() > badBefore) {
                        throw NoSpaceAtStart.of(volume, layout.slot(stripe, unit), "the parity of"
                                + " stripe " + stripe + ", some data of which are lost", e);
                    }
                    lacksSpace = true;
                }
            }
        }
    }

    private boolean read(Layout layout, long stripe, int unit, MemorySegment content)
            throws StorageException {
        int slot = layout.slot(stripe, unit);
        BlockDevice device = members.device(slot);
        if (device == null || ((inSync & 1L << slot) == 0 && !volume.hasRebuilt(slot, stripe))) {
            return false;
        }
        try {
            ChunkedTransfer.read(device, atBytes(layout, stripe, unit), content);
            return true;
        } catch (MediumException _) {
            return false;
        }
    }

    private void write(Layout layout, long stripe, int unit, MemorySegment content)
            throws StorageException {
        int slot = layout.slot(stripe, unit);
        BlockDevice device = members.device(slot);
        if (device != null && (members.active() & 1L << slot) != 0) {
            ChunkedTransfer.write(device, atBytes(layout, stripe, unit), content);
        }
    }

    private long atBytes(Layout layout, long stripe, int unit) {
        VolumeDescription what = volume.description();
        return what.layout().dataBytes() + layout.memberBlock(stripe, unit) * what.blockSize();
    }
}
