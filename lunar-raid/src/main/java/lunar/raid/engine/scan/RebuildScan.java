package lunar.raid.engine.scan;

import java.util.concurrent.atomic.AtomicLong;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.Rebuild;
import lunar.raid.ScanOptions;
import lunar.raid.SlotState;
import lunar.raid.engine.member.Member;
import lunar.raid.engine.member.Progress;
import lunar.raid.engine.member.Slots;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.engine.stripe.StripeTask;
import org.jspecify.annotations.Nullable;

/** A rebuild: restores each stripe of a set on one member, and recovers in part what cannot be computed whole. */
public final class RebuildScan extends StripeScan implements Rebuild, PartialRecovery.Owner {
    private final Member member;
    private final Progress progress;
    private final AtomicLong lostBlocks = new AtomicLong();

    public RebuildScan(StripeEngine engine, ScanOptions options, Member member, Progress progress) {
        super(engine, options, progress);
        this.member = member;
        this.progress = progress;
    }

    @Override
    public int slot() { return member.slot; }

    @Override
    public long lostBlocks() { return lostBlocks.get(); }

    @Override
    public void lost(long blocks) { lostBlocks.addAndGet(blocks); }

    @Override
    public void recovered() { worked(); }

    @Override
    public void failed(StorageException cause) {
        note(cause);
        worked();
    }

    @Override
    long next(long from) { return progress.next(from); }

    @Override
    void work(StripeTask task) {
        int unit = layout.unit(task.stripe(), member.slot);
        if (unit < 0) { // the slot has nothing of this stripe
            worked();
        } else {
            task.startRestore(this, 1L << unit);
        }
    }

    @Override
    void workEnded(StripeTask task, @Nullable StorageException cause) {
        if (cause instanceof MediumException && task.isRestore() && obstacle() == null
                && !engine.isClosed()) {
            int unit = layout.unit(task.stripe(), member.slot);
            new PartialRecovery(engine, this, task, unit).start();
            return;
        }
        if (cause == null) {
            worked();
        } else {
            failed(cause);
        }
    }

    @Override
    @Nullable
    StorageException obstacle() {
        Slots slots = engine.slots();
        if (!slots.holds(member) || slots.state(member.slot) != SlotState.REBUILDING) {
            return new DeviceGoneException(this + ": " + member + " has failed");
        }
        return volumeEnd();
    }

    @Override
    long slotsToFlush() { return 1L << member.slot; }

    @Override
    void completed() { engine.membership.whenJoined(member, this::joined); }

    private void joined() {
        StorageException obstacle = engine.isClosed() ? engine.gone(this) : obstacle();
        if (obstacle != null) {
            end(obstacle);
            return;
        }
        engine.membership.change(slots -> slots.holds(member)
                && slots.state(member.slot) == SlotState.REBUILDING
                        ? slots.withState(member.slot, SlotState.ACTIVE)
                        : slots,
                this::isActive);
    }

    private void isActive() {
        StorageException end = volumeEnd();
        if (end == null) {
            engine.options.listener().rebuilt(member.slot, lostBlocks());
        }
        end(end);
    }

    @Override
    public String toString() { return "rebuild of slot " + member.slot; }
}
