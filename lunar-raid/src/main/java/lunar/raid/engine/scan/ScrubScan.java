package lunar.raid.engine.scan;

import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.StorageException;
import lunar.raid.ScanOptions;
import lunar.raid.Scrub;
import lunar.raid.StripeSet;
import lunar.raid.engine.member.Slots;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.engine.stripe.StripeTask;
import lunar.raid.layout.CorruptUnitLocator;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/** A scrub: verifies each stripe, locates a wrong unit where redundancy allows, and restores it if wanted. */
public final class ScrubScan extends StripeScan implements Scrub {
    private final boolean repairs;
    private final AtomicLong mismatches = new AtomicLong();
    private final AtomicLong skipped = new AtomicLong();

    public ScrubScan(StripeEngine engine, ScanOptions options, boolean repairs) {
        super(engine, options, null);
        this.repairs = repairs;
    }

    @Override
    public long mismatches() { return mismatches.get(); }

    @Override
    public long skipped() { return skipped.get(); }

    @Override
    long next(long from) {
        return layout.shape().level().isRedundant() && from < layout.stripes()
                ? from
                : StripeSet.NONE;
    }

    @Override
    void work(StripeTask task) {
        Slots slots = engine.slots();
        if (layout.units(task.stripe(), slots.lost(task.stripe())) != 0
                || slots.isStale(task.stripe())) {
            skipped.incrementAndGet();
            worked();
        } else {
            task.startVerify(this);
        }
    }

    @Override
    void workEnded(StripeTask task, @Nullable StorageException cause) {
        if (task.isRestore()) { // a stripe that fails is found by the next scrub
            worked();
        } else if (cause != null || !task.readsEverything()) {
            skipped.incrementAndGet();
            worked();
        } else {
            compare(task);
        }
    }

    private void compare(StripeTask task) {
        int redundant = layout.units() - layout.dataUnits();
        var differences = new MemorySegment[redundant];
        boolean isRight = true;
        for (int i = 0; i < redundant; i++) {
            differences[i] = task.difference(layout.dataUnits() + i);
            isRight &= task.isZero(differences[i]);
        }
        if (isRight) {
            worked();
            return;
        }
        mismatches.incrementAndGet();
        OptionalInt unit = CorruptUnitLocator.of(layout, differences);
        OptionalInt slot = unit.isEmpty()
                ? OptionalInt.empty()
                : OptionalInt.of(layout.slot(task.stripe(), unit.getAsInt()));
        engine.options.listener().mismatched(task.stripe(), slot, repairs);
        if (!repairs) {
            worked();
            return;
        }
        long wanted = unit.isPresent()
                ? 1L << unit.getAsInt()
                : Layout.all(layout.units()) & ~Layout.all(layout.dataUnits());
        // Else a replay could bring back what is repaired: the stripe is locked, so nothing else of it is logged.
        engine.options.guard().settle(() -> task.startRestore(this, wanted));
    }

    @Override
    @Nullable
    StorageException obstacle() { return volumeEnd(); }

    @Override
    long slotsToFlush() { return repairs ? Layout.all(layout.shape().members()) : 0; }

    @Override
    void completed() { end(null); }

    @Override
    public String toString() { return "scrub"; }
}
