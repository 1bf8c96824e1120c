package lunar.initiator;

import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import lunar.block.BlockRequest;
import lunar.block.LostWritesException;
import lunar.initiator.internal.lun.WriteLedger;

/**
 * Tracks whether a logical unit has acknowledged writes that no flush has made stable yet, and whether its target may
 * have lost them with a volatile cache. Belongs to the unit, not to a session or a path: it outlives sessions, and all
 * paths to a unit share it. Thread-safe.
 */
public final class UnflushedWrites {
    private final WriteLedger ledger;
    /** Held while {@link #reopened} decides, which may block; never by a thread that receives. */
    private final ReentrantLock judging = new ReentrantLock();
    /** Whether a session has found the unit yet, and the write verifier that it told last; guarded by that lock. */
    private boolean known;
    private Optional<UUID> verifier = Optional.empty();

    /** Creates the state of a unit that nothing has been written to. */
    public UnflushedWrites() {
        this(false);
    }

    /** @param survives whether the unit's cache is known to survive resets and power failures, whatever it reports */
    public UnflushedWrites(boolean survives) {
        ledger = new WriteLedger(survives);
    }

    /** Returns the account of writes and flushes. */
    WriteLedger ledger() { return ledger; }

    /**
     * Returns the latest loss that a flush has reported, to be passed to {@link #requireNoLoss}; called first when a
     * flush is submitted.
     */
    public long reported() { return ledger.reported(); }

    /**
     * Checks again whether a FLUSH vouches for its writes after the target has answered it with GOOD, perhaps over
     * another session: another flush may have reported the loss of writes that this one was to make stable.
     *
     * @param request of any operation; only a FLUSH is checked
     * @param reportedBefore what {@link #reported} returned before it was sent first
     */
    public void requireNoLoss(BlockRequest request, long reportedBefore)
            throws LostWritesException {
        ledger.requireNoLoss(request, reportedBefore);
    }

    /** Returns how often acknowledged writes may have been lost. */
    public long writeLosses() {
        return ledger.writeLosses();
    }

    /** Whether there are acknowledged writes that no flush has made stable. */
    public boolean isDirty() {
        return ledger.isDirty();
    }

    /**
     * Notes that the unit may have lost its volatile cache: the next flush fails if there are unflushed writes.
     *
     * @param why what has happened to which unit, for the message
     */
    public void lost(String why) { ledger.lost(why); }

    /**
     * Called when a new session has found the unit, before requests use it. Notes a loss unless something shows that
     * the unit has kept its cache: it reports the same write verifier as before; where it has no verifier, it reports
     * an I_T nexus loss (29h/07h) rather than a reset, or a session that is older than this one still reaches it.
     *
     * @param by name of the unit and the new session, for the message
     * @param told what the unit attentions of the session have reported so far
     * @param now the write verifier that the unit reports by this session
     * @param witness whether an older session reaches the unit; may block
     */
    public void reopened(String by, ResetTold told, Optional<UUID> now,
            BooleanSupplier witness) {
        judging.lock();
        try {
            boolean kept;
            if (!known) {
                kept = true;
            } else if (now.isPresent() && verifier.isPresent()) {
                kept = now.equals(verifier);
            } else {
                kept = told == ResetTold.NEXUS_LOSS || witness.getAsBoolean();
            }
            known = true;
            verifier = now;
            if (!kept) {
                lost(by + ": the session was made anew, and "
                        + (now.isPresent() ? "the write verifier has changed" : switch (told) {
                            case NOTHING, NEXUS_LOSS -> "the target does not tell whether it "
                                    + "kept its write cache";
                            case RESET -> "the target reports a power on or reset";
                            case POWER_ON -> "the target reports a power on";
                        }));
            }
        } finally {
            judging.unlock();
        }
    }
}
