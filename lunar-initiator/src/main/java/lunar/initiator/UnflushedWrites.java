package lunar.initiator;

import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.initiator.internal.lun.KnownVerifier;
import lunar.initiator.internal.lun.WriteLedger;

/**
 * Tracks whether a logical unit has acknowledged writes that no flush has made stable yet, and whether its target may
 * have lost them with a volatile cache. Belongs to the unit rather than to a session or path: outlives sessions and is
 * shared by all paths to a unit. Thread-safe.
 */
public final class UnflushedWrites {
    /** How often a verifier is read that becomes outdated meanwhile. */
    private static final int MAX_READINGS = 8;

    /**
     * A write verifier that a new session has read.
     *
     * @param asked {@link KnownVerifier#generation} when it was asked for
     */
    record VerifierReading(long asked, Optional<UUID> value) {}

    /** Reads the write verifier again. */
    @FunctionalInterface
    interface VerifierReader {
        /** Blocks. */
        Optional<UUID> read() throws StorageException;
    }

    private final WriteLedger ledger;
    /** Held while {@link LunDevice#reopened} decides, which may block; never by a thread that receives. */
    private final ReentrantLock judging = new ReentrantLock();
    private final KnownVerifier verifier;

    /** Creates the state of a unit that nothing has been written to. */
    public UnflushedWrites() {
        this(false);
    }

    /** @param survives whether the unit's cache is known to survive resets and power failures, whatever it reports */
    public UnflushedWrites(boolean survives) {
        ledger = new WriteLedger(survives);
        verifier = new KnownVerifier(ledger);
    }

    /** Returns the account of writes and flushes. */
    WriteLedger ledger() { return ledger; }

    /** Returns the last reported write verifier. */
    KnownVerifier verifier() { return verifier; }

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
     * Records that the unit may have lost its volatile cache: the next flush fails if there are unflushed writes.
     *
     * @param why event and unit, for the message
     */
    public void lost(String why) { boolean _ = ledger.lost(why); }

    /**
     * Called when a new session has opened the unit, before requests use it. Records a loss unless there is evidence
     * that the unit has kept its cache: it reports the same write verifier as before; or, without a verifier, it
     * reports an I_T nexus loss (29h/07h) rather than a reset, or an older session still reaches it.
     *
     * @param by name of the unit and the new session, for the message
     * @param told resets that unit attentions of the session have reported so far
     * @param first write verifier that the session has read
     * @param again reads it again, because another session may have found a later one meanwhile
     * @param witness whether an older session reaches the unit; may block
     */
    void reopened(String by, ReportedReset told, VerifierReading first, VerifierReader again,
            BooleanSupplier witness) throws StorageException {
        judging.lock();
        try {
            VerifierReading now = first;
            for (int readings = 1; !adopted(by, told, now, witness); readings++) {
                if (readings == MAX_READINGS) {
                    throw new BusyException(
                            by + ": the write verifier changes again and again", null);
                }
                long asked = verifier.generation();
                now = new VerifierReading(asked, again.read());
            }
        } finally {
            judging.unlock();
        }
    }

    private boolean adopted(String by, ReportedReset told, VerifierReading now,
            BooleanSupplier witness) {
        boolean isKept = verifier.decides(now.value()) || told == ReportedReset.NEXUS_LOSS
                || witness.getAsBoolean();
        String sign = now.value().isPresent()
                ? "the write verifier has changed"
                : switch (told) {
                    case NOTHING, NEXUS_LOSS -> "the target does not report whether it kept its "
                            + "write cache";
                    case RESET -> "the target reports a power on or reset";
                    case POWER_ON -> "the target reports a power on";
                };
        return verifier.reopened(now.value(), now.asked(), isKept,
                by + ": the session was re-established, and " + sign);
    }
}
