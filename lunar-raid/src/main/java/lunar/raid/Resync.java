package lunar.raid;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * Restores redundancy after a crash: computes parity from the data, and copies from the first copy. If data of a stripe
 * are lost, their redundancy is all that is left of them, and stays as it is. A stripe for which a member has no space
 * waits for the next resync.
 */
public final class Resync extends StripeScan {
    private final @Nullable Migration migration;
    private final Progress progress;
    /** Why some stripes are left to the next resync. */
    private volatile @Nullable StorageException noSpace;
    /** Stripes of the current batch that are not consistent: a half-written one stays half written. */
    private final Set<Long> left = ConcurrentHashMap.newKeySet();

    /** @param migration tells which stripes have been moved, while no reshape runs; null if all are in one layout */
    Resync(Engine engine, @Nullable Migration migration, ScanOptions options, Progress progress) {
        super(engine, options, progress);
        this.migration = migration;
        this.progress = progress;
    }

    @Override
    public long stripes() {
        return migration == null ? super.stripes() : migration.before.layout.stripes();
    }

    @Override
    Engine engineOf(long stripe) {
        return migration == null ? engine : migration.engineOfStripe(stripe);
    }

    @Override
    long next(long from) { return progress.next(from); }

    @Override
    void work(StripeTask task) {
        Layout its = engineOf(task.stripe()).layout;
        long lost = its.units(task.stripe(), engine.slots().lost(task.stripe()));
        long there = Layout.all(its.units()) & ~lost;
        long wanted = its.code() == Code.COPIES
                ? there & ~Long.lowestOneBit(there)
                : there & ~Layout.all(its.dataUnits());
        boolean isDataThere = its.code() == Code.COPIES
                || (lost & Layout.all(its.dataUnits())) == 0;
        if (wanted == 0 || !isDataThere) {
            left.add(task.stripe());
            worked();
        } else {
            task.startRestore(this, wanted);
        }
    }

    @Override
    void workEnded(StripeTask task, @Nullable StorageException cause) {
        // A member that has failed meanwhile changes what can be done; the stripe is then as consistent as it can be.
        if (cause != null) {
            left.add(task.stripe());
        }
        if (cause != null && volumeEnd() != null) {
            note(cause);
        } else if (cause != null && Engine.isNoSpace(cause)) {
            noSpace = cause;
            if (!engine.noteHalfWritten(task.stripe())) {
                note(cause);
            }
        }
        worked();
    }

    @Override
    void done(StripeTask task) {
        if (!left.remove(task.stripe())) {
            engine.slots().halfWritten().remove(task.stripe());
        }
    }

    @Override
    @Nullable
    StorageException obstacle() { return volumeEnd(); }

    @Override
    long slotsToFlush() { return Layout.all(layout.shape().members()); }

    @Override
    void completed() {
        engine.membership.change(slots -> slots.resynced(progress), this::resynced);
    }

    private void resynced() {
        Slots slots = engine.slots();
        if (slots.resync() == null) { // else the next resync covers these stripes again
            engine.options.guard().resynced(from -> slots.halfWritten().snapshot().next(from));
        }
        StorageException why = noSpace;
        StorageException end = volumeEnd();
        end(end != null || why == null
                ? end
                : new NoSpaceException(
                        this + ": the redundancy of some stripes waits until a member"
                                + " has space for it; give it some: " + why.getMessage(),
                        why));
    }

    @Override
    public String toString() { return "resync"; }
}
