package lunar.initiator.internal.lun;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The write verifier of a unit as its sessions have read it, and whether the loss after which it came is recorded: the
 * target tells each initiator port of a loss, and this initiator may have several. Implements {@link
 * lunar.initiator.UnflushedWrites}.
 *
 * <p>Answers of several sessions have no order. Therefore each verifier comes with the {@link #generation} at the time
 * when it was asked for, and one that was asked for before another one was adopted is outdated, unless both are equal.
 * Thread-safe.
 */
public final class KnownVerifier {
    /** In place of a loss: it is recorded already. */
    public static final long RECORDED = 0;
    /** In place of a loss: the verifier must be read again. */
    public static final long OUTDATED = -1;

    /**
     * A flush that waits.
     *
     * @param lastCheck latest check whose end it waits for
     */
    private record Waiting(long lastCheck, Runnable end) {}

    private final WriteLedger ledger;
    /** Whether a session has opened the unit yet. */
    private boolean isOpened;
    private Optional<UUID> value = Optional.empty();
    /** Whether the value came with a loss that is recorded. */
    private boolean isRecorded;
    private long generation;
    /** Numbers of the reports that are being checked, and of the latest of all. */
    private final TreeSet<Long> checks = new TreeSet<>();
    private long lastCheck;
    private volatile boolean isChecking;
    /** Flushes that wait for the end of checks, in the order of these. */
    private final Queue<Waiting> waiting = new ArrayDeque<>();

    public KnownVerifier(WriteLedger ledger) { this.ledger = ledger; }

    /** Returns the generation of the verifier, to be noted before it is asked for. */
    public synchronized long generation() {
        return generation;
    }

    /** Returns the verifier; empty if the unit has none, or it has not been read since the unit was opened. */
    public synchronized Optional<UUID> value() {
        return value;
    }

    // --- reports of the target ---

    /**
     * Begins to check a report of the target that writes are lost: until its end no flush may succeed.
     *
     * @return number of the check, for {@link #endCheck}
     */
    synchronized long beginCheck() {
        lastCheck++;
        checks.add(lastCheck);
        isChecking = true;
        return lastCheck;
    }

    /** Ends the check of a report, after its loss was recorded, if that was not so yet. */
    void endCheck(long number) {
        var ready = new ArrayList<Runnable>();
        synchronized (this) {
            checks.remove(number);
            isChecking = !checks.isEmpty();
            while (!waiting.isEmpty() && (checks.isEmpty()
                    || waiting.element().lastCheck() < checks.first())) {
                ready.add(waiting.remove().end());
            }
        }
        ready.forEach(Runnable::run);
    }

    /** Whether reports are being checked. */
    boolean isChecking() { return isChecking; }

    /**
     * Defers the end of a flush while reports are checked that have come before: the flush may be one that they
     * concern, too.
     *
     * @param end called after these checks, by any thread
     * @return false if nothing is checked now, and {@code end} will not be called
     */
    synchronized boolean defers(Runnable end) {
        return !checks.isEmpty() && waiting.add(new Waiting(lastCheck, end));
    }

    /**
     * Takes the report of the target, by failing a command, that writes are lost. Records a loss, {@link
     * WriteLedger#refused}, unless the verifier shows that it is recorded: a target changes the verifier before it
     * tells the first port.
     *
     * @param number of the flush; 0 for another command
     * @param asked generation when the verifier was asked for, after the report
     * @param now the verifier; empty if it could not be read
     * @return number of the loss; {@link #RECORDED} or {@link #OUTDATED} if none is recorded now
     */
    public synchronized long refused(long number, String why, long asked, Optional<UUID> now) {
        if (now.isPresent()) {
            if (isRecorded && now.equals(value)) {
                return RECORDED;
            }
            if (asked != generation) {
                return OUTDATED;
            }
            adopt(now, true);
        }
        return ledger.refused(number, why);
    }

    // --- new sessions ---

    /** Whether a verifier tells by itself whether the unit has kept its cache. */
    public synchronized boolean decides(Optional<UUID> now) {
        return !isOpened || (now.isPresent() && value.isPresent());
    }

    /**
     * Takes the verifier that a new session has read. Records a loss unless it is the known one, or that of the first
     * session.
     *
     * @param asked generation when it was asked for
     * @param isKept whether the unit has kept its cache, if the verifier does not tell
     * @param why for the message
     * @return false if the verifier must be read again
     */
    public synchronized boolean reopened(Optional<UUID> now, long asked, boolean isKept,
            String why) {
        boolean isSame = now.equals(value);
        if (isOpened && now.isPresent() && !isSame && asked != generation) {
            return false;
        }
        boolean keeps = decides(now) ? !isOpened || isSame : isKept;
        isOpened = true;
        boolean recordsLoss = !keeps && ledger.lost(why);
        if (!isSame || !keeps) {
            adopt(now, recordsLoss);
        }
        return true;
    }

    /** @param recordsLoss whether the loss after which it came is recorded: then a report of it is no news */
    private void adopt(Optional<UUID> now, boolean recordsLoss) {
        value = now;
        isRecorded = recordsLoss && now.isPresent();
        generation++;
    }
}
