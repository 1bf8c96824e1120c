package lunar.raid.metadata;

import java.util.function.LongSupplier;
import lunar.raid.StripeSet;
import lunar.raid.WriteGuard.Ready;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.metadata.superblock.Superblocks;

/**
 * Whether stripes are half written, since members had no space: then the superblocks say that all is to be compared
 * after the next start, however the volume is stopped. For any thread.
 */
final class HalfWrittenFlag {
    private final Superblocks superblocks;
    private final LongSupplier resynced;
    /** Guarded by this, as the next. */
    private boolean isThere;
    private boolean isKept;

    /**
     * @param resynced returns the stripe up to which redundancy is true, apart from these; {@link VolumeRecord#IN_SYNC}
     * if all of it is
     */
    HalfWrittenFlag(Superblocks superblocks, LongSupplier resynced) {
        this.superblocks = superblocks;
        this.resynced = resynced;
    }

    synchronized boolean isThere() { return isThere; }

    /** Notes a half-written stripe; tells {@code ready} when the superblocks say so. */
    void add(Ready ready) {
        boolean isKnown;
        synchronized (this) {
            isKnown = isThere && isKept;
            isThere = true;
        }
        if (isKnown) {
            ready.ready(null);
            return;
        }
        superblocks.change(this::told, failure -> {
            synchronized (this) {
                isKept = isThere && failure == null;
            }
            ready.ready(failure);
        });
    }

    /** A resync is through. */
    void resynced(StripeSet left) {
        boolean isOver;
        synchronized (this) {
            isOver = isThere && left.next(0) == StripeSet.NONE;
            if (isOver) {
                isThere = false;
                isKept = false;
            }
        }
        if (isOver) {
            superblocks.change(this::told, _ -> {});
        }
    }

    private VolumeRecord told(VolumeRecord record) {
        return record.withResyncNext(isThere() ? 0 : resynced.getAsLong());
    }
}
