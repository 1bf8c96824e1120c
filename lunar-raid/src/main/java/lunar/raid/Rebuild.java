package lunar.raid;

import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Gives the member of a slot what belongs there. Its checkpoint is saved from time to time, so a crash costs little.
 */
public final class Rebuild extends Walk {
    private final Member member;
    private final Progress progress;

    Rebuild(Engine engine, WalkOptions options, Member member, Progress progress) {
        super(engine, options, progress.checkpoint());
        this.member = member;
        this.progress = progress;
    }

    /** The slot that is rebuilt. */
    public int slot() { return member.slot; }

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
        if (cause != null) {
            note(cause);
        }
        worked();
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
    void passed(long stripe) { progress.advance(stripe); }

    @Override
    long slotsToFlush() { return 1L << member.slot; }

    @Override
    void settled(long upTo) {
        progress.settle(upTo);
        engine.membership.change(slots -> slots, this::goOn);
    }

    @Override
    void completed() {
        progress.settle(layout.stripes());
        engine.membership.change(slots -> slots.holds(member)
                && slots.state(member.slot) == SlotState.REBUILDING
                        ? slots.withState(member.slot, SlotState.ACTIVE)
                        : slots,
                this::isActive);
    }

    private void isActive() {
        StorageException end = volumeEnd();
        if (end == null) {
            engine.options.listener().rebuilt(member.slot);
        }
        end(end);
    }

    @Override
    public String toString() { return "rebuild of slot " + member.slot; }
}
