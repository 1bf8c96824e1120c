package lunar.raid.engine.scan;

import java.util.ArrayDeque;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.engine.member.Member;
import lunar.raid.engine.member.Slots;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.engine.stripe.StripeTask;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * Recovers as much as possible of a stripe that cannot be rebuilt as a whole, because members that are needed have
 * unreadable blocks: bisects the range down to single physical blocks. Unrecoverable blocks are added to the bad-block
 * list ({@link lunar.raid.BadBlockList}) and count as zeroes from then on, and parity is computed for that. The stripe
 * stays locked by the scan.
 */
final class PartialRecovery implements StripeTask.Owner {
    /** The rebuild that a recovery is part of. */
    public interface Owner {
        /** Counts more data that are lost, and listed. */
        void lost(long blocks);

        /** Called at the end, when the stripe has been recovered as far as possible. */
        void recovered();

        /** Called at the end, when the stripe could not even be recovered in part. */
        void failed(StorageException cause);
    }

    private record Range(int from, int blocks) {}

    private final StripeEngine engine;
    private final Layout layout;
    private final Owner owner;
    private final StripeTask task;
    private final int unit;
    private final int grain;
    private final ArrayDeque<Range> ranges = new ArrayDeque<>();
    private Range now;
    private boolean isZeroing;
    /** Units that have lost their content. */
    private long lost;

    PartialRecovery(StripeEngine engine, Owner owner, StripeTask task, int unit) {
        this.engine = engine;
        this.layout = engine.layout;
        this.owner = owner;
        this.task = task;
        this.unit = unit;
        grain = grain();
        now = new Range(0, layout.chunkBlocks());
    }

    /** Returns the blocks of the largest physical block of a member, limited to what a change of all units may have. */
    private int grain() {
        int grain = 1;
        Slots slots = engine.slots();
        for (int slot = 0; slot < slots.count(); slot++) {
            Member member = slots.member(slot);
            if (member != null) {
                int physical = member.device.geometry().physicalBlockSize();
                grain = Math.max(grain, physical / engine.blockSize());
            }
        }
        int most = engine.options.guard().maxBytes() / engine.blockSize() / layout.units();
        return Math.clamp(grain, 1, Math.min(Math.max(1, most), layout.chunkBlocks()));
    }

    /** Begins; called after the whole unit could not be restored. */
    void start() { divide(); }

    private void divide() {
        if (now.blocks <= grain) {
            lose();
            return;
        }
        int half = Math.ceilDiv(now.blocks / 2, grain) * grain;
        ranges.push(new Range(now.from + half, now.blocks - half));
        ranges.push(new Range(now.from, half));
        next();
    }

    private void next() {
        Range range = ranges.poll();
        if (range == null) {
            owner.recovered();
            return;
        }
        now = range;
        isZeroing = false;
        task.startRestore(this, 1L << unit, now.from, now.blocks);
    }

    @Override
    public void stripeDone(StripeTask done, @Nullable StorageException cause) {
        if (cause == null) {
            if (isZeroing) {
                tell();
            }
            next();
        } else if (!(cause instanceof MediumException)) {
            owner.failed(cause);
        } else if (isZeroing) { // another unit cannot be read
            isZeroing = false;
            task.startRestore(this, 1L << unit, now.from, now.blocks);
        } else {
            divide();
        }
    }

    /** Makes the loss stable before anything that relies on it is written. */
    private void lose() {
        long gone = task.beyondReach() | 1L << unit;
        lost = layout.code() == Code.COPIES
                ? 1L << unit
                : gone & Layout.all(layout.dataUnits());
        engine.losses.lose(task.stripe(), lost, now.from, now.blocks, failure -> {
            if (failure != null) {
                owner.failed(failure);
            } else {
                isZeroing = true;
                task.startZeroLost(this, unit, lost, now.from, now.blocks);
            }
        });
    }

    private void tell() {
        owner.lost((long) Long.bitCount(lost) * now.blocks);
        if ((lost >>> unit & 1) != 0) { // the listener has been told of the others
            engine.options.listener().unrecoverable(layout.slot(task.stripe(), unit),
                    layout.memberBlock(task.stripe(), unit) + now.from, now.blocks);
        }
    }
}
