package lunar.raid.meta;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import lunar.block.BlockDevice;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.StripeSet;
import lunar.raid.layout.Layout;

/**
 * Makes checksums of stripes unknown, on the medium, before the volume is used: a crash may have left them and their
 * blocks of different age. It need not be stable, as long as the stripes' regions have their bits. Blocks.
 */
final class SumLoss {
    private static final int BATCH_PAGES = 64;

    private final SumArea area;
    private final Layout layout;
    private final MemberSet members;
    private final MemorySegment blank = Arena.ofAuto().allocate((long) BATCH_PAGES * Page.BYTES,
            Page.BYTES);
    private final Page page = new Page();

    SumLoss(SumArea area, VolumeRecord volume, MemberSet members) {
        this.area = area;
        this.members = members;
        layout = Layout.of(volume.shape());
    }

    void lose(StripeSet stripes) throws StorageException {
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
                || !(members.given(slot) instanceof SummedMember member)) {
            return;
        }
        BlockDevice device = members.retrying(member.below());
        long at = from;
        while (at < end) {
            long number = at / SumFormat.PER_PAGE;
            long next = Math.min(end, (number + 1) * SumFormat.PER_PAGE);
            long whole = at % SumFormat.PER_PAGE == 0
                    ? Math.min(BATCH_PAGES, (end - at) / SumFormat.PER_PAGE)
                    : 0;
            if (whole > 0 && isErased(device, number, whole)) {
                next = at + whole * SumFormat.PER_PAGE;
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
            LongTransfer.write(device, area.pageAtBytes(number),
                    blank.asSlice(0, pages * Page.BYTES));
            return true;
        } catch (NoSpaceException _) {
            return false;
        }
    }

    private void lose(BlockDevice device, long number, long from, long end)
            throws StorageException {
        try {
            LongTransfer.read(device, area.pageAtBytes(number), page.segment());
        } catch (MediumException _) {
            return; // nothing is known by it
        }
        if (!area.isMine(page, number)) {
            return;
        }
        for (long block = from; block < end; block++) {
            page.bytes().putInt(SumFormat.at(block), SumFormat.UNKNOWN);
        }
        area.seal(page, number);
        LongTransfer.write(device, area.pageAtBytes(number), page.segment());
    }
}
