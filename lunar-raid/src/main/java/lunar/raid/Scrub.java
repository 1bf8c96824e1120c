package lunar.raid;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.StorageException;
import lunar.raid.layout.CorruptUnitLocator;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * Reads every unit of every stripe. Unreadable blocks are repaired on the way; redundancy that does not match the data
 * is counted, and repaired if wanted: with two parities, or three copies, the wrong unit can often be identified, else
 * the data, or the first copy, are taken as right. Stripes that have lost units, or are known to be stale, are skipped.
 */
public final class Scrub extends StripeScan {
    private final boolean repairs;
    private final AtomicLong mismatches = new AtomicLong();
    private final AtomicLong skipped = new AtomicLong();

    Scrub(Engine engine, ScanOptions options, boolean repairs) {
        super(engine, options, null);
        this.repairs = repairs;
    }

    /** Returns the number of stripes so far with redundancy that did not match. */
    public long mismatches() {
        return mismatches.get();
    }

    /** Returns the number of stripes so far that could not be compared. */
    public long skipped() {
        return skipped.get();
    }

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
        int unit = CorruptUnitLocator.of(layout, differences);
        int slot = unit < 0 ? -1 : layout.slot(task.stripe(), unit);
        engine.options.listener().mismatched(task.stripe(), slot, repairs);
        if (!repairs) {
            worked();
            return;
        }
        long wanted = unit >= 0
                ? 1L << unit
                : Layout.all(layout.units()) & ~Layout.all(layout.dataUnits());
        task.startRestore(this, wanted);
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
