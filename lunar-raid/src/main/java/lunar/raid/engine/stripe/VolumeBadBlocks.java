package lunar.raid.engine.stripe;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.BadBlockList;
import lunar.raid.Completion;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/** Keeps track of the blocks of a volume that have lost their content. */
public final class VolumeBadBlocks {

    /** Tests a range of a slot's data area. */
    private interface Piece {
        boolean test(int slot, long memberBlock, int blocks);
    }

    private final Layout layout;
    private final BadBlockList lost;
    private final Piece isLost;

    VolumeBadBlocks(Layout layout, BadBlockList lost) {
        this.layout = layout;
        this.lost = lost;
        isLost = lost::overlaps;
    }

    /** Whether content of a range of the volume is lost. It may span stripes, as runs of RAID 1 do. */
    boolean overlap(long block, long blocks) {
        long end = block + blocks;
        for (long at = block; at < end;) {
            long stripe = at / layout.stripeBlocks();
            long next = Math.min(end, (stripe + 1) * layout.stripeBlocks());
            if (overlap(stripe, (int) (at % layout.stripeBlocks()), (int) (next - at))) {
                return true;
            }
            at = next;
        }
        return false;
    }

    /** Whether content of a range of a stripe's data is lost. */
    boolean overlap(long stripe, int from, int blocks) {
        return any(stripe, from, blocks, isLost);
    }

    /** Tests the pieces of a range of a stripe's data until one matches; with copies, those of all copies. */
    private boolean any(long stripe, int from, int blocks, Piece piece) {
        int chunk = layout.chunkBlocks();
        if (layout.code() == Code.NONE) {
            return false;
        }
        for (int at = from; at < from + blocks;) {
            int next = Math.min(from + blocks, (at / chunk + 1) * chunk);
            int first = layout.code() == Code.COPIES ? 0 : at / chunk;
            int last = layout.code() == Code.COPIES ? layout.units() - 1 : first;
            for (int unit = first; unit <= last; unit++) {
                if (piece.test(layout.slot(stripe, unit),
                        layout.memberBlock(stripe, unit) + at % chunk, next - at)) {
                    return true;
                }
            }
            at = next;
        }
        return false;
    }

    static StorageException failure(Object what) {
        return new MediumException(what + ": some of the blocks were lost");
    }

    /** Forgets the losses in a range that has been written; calls back when that is stable. */
    void forget(long stripe, int from, int blocks, Runnable stable) {
        var pending = new AtomicInteger(1);
        Runnable ended = () -> {
            if (pending.decrementAndGet() == 0) {
                stable.run();
            }
        };
        boolean _ = any(stripe, from, blocks, (slot, block, count) -> {
            if (lost.overlaps(slot, block, count)) {
                pending.incrementAndGet();
                lost.written(slot, block, count, ended);
            }
            return false;
        });
        ended.run();
    }

    /** Notes that the content of a range of units is lost. */
    public void lose(long stripe, long units, int from, int blocks, Completion end) {
        var pending = new AtomicInteger(1);
        var failure = new AtomicReference<@Nullable StorageException>();
        Completion ended = why -> {
            if (why != null) {
                failure.set(why);
            }
            if (pending.decrementAndGet() == 0) {
                end.completed(failure.get());
            }
        };
        for (int unit = 0; unit < layout.units(); unit++) {
            if ((units >>> unit & 1) != 0) {
                pending.incrementAndGet();
                lost.lose(layout.slot(stripe, unit), layout.memberBlock(stripe, unit) + from,
                        blocks, ended);
            }
        }
        ended.completed(null);
    }
}
