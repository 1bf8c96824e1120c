package lunar.raid.engine.scan;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.ScanOptions;
import lunar.raid.WriteGuard;
import lunar.raid.engine.member.Progress;
import lunar.raid.engine.member.Slots;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.engine.stripe.StripeTask;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * Restores redundancy after a crash: computes parity from the data, and copies from the first copy. If data of a stripe
 * are lost, the parity that they are computed from is all that is left of them: it stays as it is, and the other one is
 * made to agree with it.
 *
 * <p>No stripe passes as consistent that could not be restored. If members have failed meanwhile, it is restored
 * without them; if a member has no space, or all that is left of some data cannot be read, the stripe
 * waits for the next resync.
 */
public final class ResyncScan extends StripeScan {
    /** The engines that have the stripes of a volume. */
    public interface Engines {
        /** Returns the number of stripes. */
        long stripes();

        /** Returns the engine that has a stripe now. */
        StripeEngine engineOf(long stripe);

        /** Returns an engine that has all stripes. */
        static Engines of(StripeEngine engine) {
            return new Engines() {
                @Override
                public long stripes() { return engine.layout.stripes(); }

                @Override
                public StripeEngine engineOf(long stripe) { return engine; }
            };
        }
    }

    private final Engines engines;
    private final Progress progress;
    /** Why some stripes are left to the next resync. */
    private volatile @Nullable StorageException whyLeft;
    /** Stripes of the current batch that are not consistent: a half-written one stays half written. */
    private final Set<Long> left = ConcurrentHashMap.newKeySet();
    /** By stripe of the current batch, the slots that did not have it when its restore was planned. */
    private final Map<Long, Long> lostThen = new ConcurrentHashMap<>();

    /** @param engines tells which engine has a stripe, while no reshape runs */
    public ResyncScan(StripeEngine engine, Engines engines, ScanOptions options,
            Progress progress) {
        super(engine, options, progress);
        this.engines = engines;
        this.progress = progress;
    }

    @Override
    public long stripes() { return engines.stripes(); }

    @Override
    StripeEngine engineOf(long stripe) { return engines.engineOf(stripe); }

    @Override
    long next(long from) { return progress.next(from); }

    @Override
    void beginBatch(long firstStripe, long stripeCount, WriteGuard.Ready ready) {
        left.clear();
        lostThen.clear();
        engine.options.guard().beginResync(firstStripe, stripeCount, ready);
    }

    @Override
    void endBatch(long firstStripe, long stripeCount) {
        engine.options.guard().endResync(firstStripe, stripeCount);
    }

    @Override
    void work(StripeTask task) {
        long stripe = task.stripe();
        Layout its = engineOf(stripe).layout;
        Slots slots = engine.slots();
        lostThen.put(stripe, slots.lost(stripe));
        long lost = its.units(stripe, slots.lost(stripe));
        int lostData = lostData(slots, stripe);
        long there = Layout.all(its.units()) & ~lost;
        long wanted = its.code() == Code.COPIES
                ? Slots.spare(there, 1)
                : Slots.spare(there & ~Layout.all(its.dataUnits()), lostData);
        boolean isHalfWritten = slots.isHalfWritten(stripe);
        if (wanted == 0 || (isHalfWritten && lostData > 0)) {
            left.add(stripe);
            worked();
        } else {
            task.startRestore(this, wanted);
        }
    }

    /** Returns the number of data units of a stripe that are lost, apart from copies. */
    private int lostData(Slots slots, long stripe) {
        Layout its = engineOf(stripe).layout;
        long lost = its.units(stripe, slots.lost(stripe));
        return its.code() == Code.COPIES
                ? 0
                : Long.bitCount(lost & Layout.all(its.dataUnits()));
    }

    @Override
    void workEnded(StripeTask task, @Nullable StorageException cause) {
        long stripe = task.stripe();
        if (cause == null) {
            worked();
        } else if (volumeEnd() != null || engine.isClosed()) {
            note(cause);
            worked();
        } else if (!Long.valueOf(engine.slots().lost(stripe)).equals(lostThen.get(stripe))) {
            work(task); // members have failed meanwhile, which changes what can be done
        } else {
            leave(stripe, cause);
        }
    }

    /**
     * Leaves a stripe to the next resync. Its redundancy is known to be wrong only if a part of it has been written;
     * otherwise it may be right, and is all that is left if data are lost later.
     */
    private void leave(long stripe, StorageException cause) {
        left.add(stripe);
        whyLeft = cause;
        boolean isPartial = StripeEngine.isNoSpace(cause) && lostData(engine.slots(), stripe) == 0;
        if (!engine.noteLeft(stripe, isPartial)) {
            note(cause);
            worked();
            return;
        }
        engine.options.guard().halfWritten(refusal -> {
            if (refusal != null) {
                note(refusal);
            }
            worked();
        });
    }

    @Override
    void done(StripeTask task) {
        if (!left.contains(task.stripe())) {
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
        StorageException end = volumeEnd();
        end(end == null ? whyIncomplete() : end);
    }

    private @Nullable StorageException whyIncomplete() {
        StorageException why = whyLeft;
        if (why == null || !StripeEngine.isNoSpace(why)) {
            return why;
        }
        return new NoSpaceException(this + ": the redundancy of some stripes waits until a member"
                + " has space for it; give it some: " + why.getMessage(), why);
    }

    @Override
    public String toString() { return "resync"; }
}
