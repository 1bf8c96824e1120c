package lunar.raid.metadata.checksum;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import lunar.block.BlockDevice;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.StripeSet;
import lunar.raid.layout.Layout;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.record.VolumeRecord;

/**
 * Marks the checksums of stripes as unknown on the medium before the volume is used, since a crash may have left a
 * block and its checksum of different ages. Need not be stable while the intent bitmap has the regions' bits. Blocks.
 */
public final class ChecksumInvalidation {
    private static final int BATCH_PAGES = 64;

    private final ChecksumArea area;
    private final Layout layout;
    private final MemberSet members;
    private final MemorySegment blank = Arena.ofAuto().allocate((long) BATCH_PAGES * Page.BYTES,
            Page.BYTES);
    private final Page page = new Page();

    public ChecksumInvalidation(ChecksumArea area, VolumeRecord volume, MemberSet members) {
        this.area = area;
        this.members = members;
        layout = Layout.of(volume.shape());
    }

    public void lose(StripeSet stripes) throws StorageException {
        long[] from = new long[members.slots()];
        long[] end = new long[members.slots()];
        Arrays.fill(end, -1);
        for (long stripe = stripes.next(0); stripe < layout.stripes(); stripe = stripes
                .next(stripe + 1)) {
            for (int unit = 0; unit < layout.units(); unit++) {
                int slot = layout.slot(stripe, unit);
                long first = layout.memberBlock(stripe, unit);
                if (end[slot] != first) { // units of a slot come in ascending order
                    lose(slot, from[slot], end[slot]);
                    from[slot] = first;
                }
                end[slot] = first + layout.chunkBlocks();
            }
        }
        for (int slot = 0; slot < end.length; slot++) {
            lose(slot, from[slot], end[slot]);
        }
    }

    private void lose(int slot, long from, long end) throws StorageException {
        if (end < 0 || (members.active() & 1L << slot) == 0
                || !(members.given(slot) instanceof ChecksummedMember member)) {
            return;
        }
        BlockDevice device = members.retrying(member.below());
        long at = from;
        while (at < end) {
            long number = at / ChecksumFormat.PER_PAGE;
            long next = Math.min(end, (number + 1) * ChecksumFormat.PER_PAGE);
            long whole = at % ChecksumFormat.PER_PAGE == 0
                    ? Math.min(BATCH_PAGES, (end - at) / ChecksumFormat.PER_PAGE)
                    : 0;
            if (whole > 0 && isErased(device, number, whole)) {
                next = at + whole * ChecksumFormat.PER_PAGE;
            } else {
                lose(device, number, at, next);
            }
            at = next;
        }
    }

    /**
     * Writes blank pages, where the member has space for all of them. Pages that never got any read as blank already:
     * only those that were written are to be found then, one after the other.
     */
    private boolean isErased(BlockDevice device, long number, long pages)
            throws StorageException {
        try {
            ChunkedTransfer.write(device, area.pageAtBytes(number),
                    blank.asSlice(0, pages * Page.BYTES));
            return true;
        } catch (NoSpaceException _) {
            return false;
        }
    }

    private void lose(BlockDevice device, long number, long from, long end)
            throws StorageException {
        try {
            ChunkedTransfer.read(device, area.pageAtBytes(number), page.segment());
        } catch (MediumException _) {
            return; // nothing is known by it
        }
        if (!area.isMine(page, number)) {
            return;
        }
        for (long block = from; block < end; block++) {
            page.bytes().putInt(ChecksumFormat.at(block), ChecksumFormat.UNKNOWN);
        }
        area.seal(page, number);
        ChunkedTransfer.write(device, area.pageAtBytes(number), page.segment());
    }
}
