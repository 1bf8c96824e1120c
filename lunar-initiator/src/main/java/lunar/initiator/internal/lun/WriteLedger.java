package lunar.initiator.internal.lun;

import java.util.concurrent.atomic.AtomicLong;
import lunar.block.BlockRequest;
import lunar.block.LostWritesException;

/**
 * Tracks acknowledged writes of a logical unit that no flush has made stable yet, and losses of its volatile cache;
 * implements {@link lunar.initiator.UnflushedWrites}.
 *
 * <p>Flushes are numbered when they are submitted. An acknowledged write takes the number of the latest flush; a flush
 * that succeeds covers the writes with smaller numbers. So a write that is acknowledged while a flush is in flight
 * stays unflushed. A flush fails if a loss was recorded and no flush submitted before it has reported that loss: all
 * flushes in flight report it, later ones do not.
 *
 * <p>A write also carries the number of losses at its submission. If that has changed when it is acknowledged, the
 * target may have acknowledged it before the loss, and it counts as lost, again if the loss was reported already.
 *
 * <p>Thread-safe. A write reads three volatile fields and writes one after each flush; nothing is allocated or locked.
 */
public final class WriteLedger {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** Number of flushes submitted. */
    private final AtomicLong flushes = new AtomicLong();
    /** Flush number of the latest acknowledged write; -1 before the first. */
    private final AtomicLong acknowledged = new AtomicLong(-1);
    /** Flush number of the latest write that was acknowledged while the write cache counted as off; -1 for none. */
    private final AtomicLong unlisted = new AtomicLong(-1);
    /** Writes with smaller numbers are stable. */
    private final AtomicLong flushed = new AtomicLong();
    /** Number of losses noted, whether they affected a write or not. Changed under this object's monitor. */
    private volatile long losses;
    /** Number of the latest loss that affected a write; 0 for none. Changed under this object's monitor. */
    private final AtomicLong pending = new AtomicLong();
    /** Number of the latest such loss that a flush has reported. */
    private final AtomicLong reported = new AtomicLong();
    private volatile String cause = "";
    private final boolean survives;

    /** @param survives whether the unit's cache is known to survive resets and power failures, whatever it reports */
    public WriteLedger(boolean survives) {
        this.survives = survives;
    }

    // --- writes and flushes ---

    /** Returns the number of losses so far, which a write passes to {@link #acknowledged} at its end. */
    public long losses() {
        return losses;
    }

    /** Records that a write without FUA was acknowledged. */
    public void acknowledged(long lossesBefore) {
        raise(acknowledged, flushes.get());
        if (losses != lossesBefore) {
            concerned();
        }
    }

    /** Records that a write was acknowledged while the write cache counted as off. */
    public void acknowledgedStable() {
        raise(unlisted, flushes.get());
    }

    /** Records that the write cache may have been on for writes that were acknowledged while it counted as off. */
    public void doubt() {
        raise(acknowledged, unlisted.get());
    }

    /** Records that a loss affects a write; without effect while an earlier one is still to be reported. */
    private synchronized void concerned() {
        raise(pending, reported.get() + 1);
    }

    /** Returns the number of a flush that is being submitted. */
    public long beginFlush() {
        return flushes.incrementAndGet();
    }

    /**
     * Returns the latest loss that a flush has reported, to be passed to {@link #endFlush} or {@link #requireNoLoss};
     * called first when a flush is submitted.
     */
    public long reported() { return reported.get(); }

    /**
     * Ends a flush that the target has answered with GOOD.
     *
     * @return the number of the loss to report, for {@link #report}; 0 where the flush vouches for all writes before it
     */
    public long endFlush(long number, long reportedBefore) {
        long loss = pending.get();
        raise(flushed, number); // lost writes are reported once, not again by later flushes
        return loss > reportedBefore ? loss : 0;
    }

    /**
     * Records that the target itself has failed a flush or a write because acknowledged writes may be lost, whether
     * this initiator knew of unflushed ones or not. Writes in flight count as affected, too: the target may have
     * acknowledged them before the loss. {@link KnownVerifier} tells whether the loss is recorded already.
     *
     * @param number of the flush; 0 for a write
     * @return number of the loss, for {@link #report} if a user of the device gets that failure
     */
    public synchronized long refused(long number, String why) {
        long count = losses + 1;
        cause = why;
        losses = count;
        concerned();
        raise(flushed, number);
        return pending.get();
    }

    /** Records that a flush has failed because of a loss: flushes submitted from now on do not. */
    public void report(long loss) {
        raise(reported, loss);
    }

    /**
     * Checks again whether a FLUSH vouches for its writes after the target has answered it with GOOD, perhaps over
     * another session: another flush may have reported the loss of writes that this one was to make stable.
     *
     * @param request of any operation; only a FLUSH is checked
     * @param reportedBefore what {@link #reported} returned before it was sent first
     */
    public void requireNoLoss(BlockRequest request, long reportedBefore)
            throws LostWritesException {
        long loss = pending.get();
        if (request.operation() == BlockRequest.Operation.FLUSH && loss > reportedBefore) {
            report(loss);
            throw failure(request.toString());
        }
    }

    /** Returns the failure of a flush after a loss. */
    LostWritesException failure(String what) {
        return new LostWritesException(what + ": " + cause
                + "; writes acknowledged since the last successful flush may be lost");
    }

    private static void raise(AtomicLong value, long to) {
        long seen = value.get();
        while (seen < to && !value.compareAndSet(seen, to)) {
            seen = value.get();
        }
    }

    // --- losses ---

    /** Returns how often acknowledged writes may have been lost. */
    public long writeLosses() {
        return pending.get();
    }

    /** Whether there are acknowledged writes that no flush has made stable. */
    public boolean isDirty() {
        return acknowledged.get() >= flushed.get();
    }

    /**
     * Records that the unit may have lost its volatile cache: the next flush fails if there are unflushed writes.
     *
     * @param why event and unit, for the message
     * @return false if nothing is recorded, since the cache is known to survive
     */
    public synchronized boolean lost(String why) {
        if (survives) {
            return false;
        }
        long number = losses + 1;
        cause = why;
        losses = number; // writes acknowledged from now on see it, and earlier ones are visible here
        if (isDirty()) {
            pending.set(Math.max(pending.get(), reported.get()) + 1);
            LOG.log(System.Logger.Level.WARNING, "{0}; the next flush fails, since unflushed "
                    + "writes may be lost", why);
        }
        return true;
    }
}
