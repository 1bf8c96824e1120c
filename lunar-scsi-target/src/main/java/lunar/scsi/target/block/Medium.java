package lunar.scsi.target.block;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.target.Nexus;
import org.jspecify.annotations.Nullable;

/** State of a unit's medium: loaded or ejected, and the operation that occupies it (SBC-4 section 4.4). Thread-safe. */
final class Medium {
    private static final Sense NOT_PRESENT = Sense.of(SenseKey.NOT_READY,
            AdditionalSense.MEDIUM_NOT_PRESENT);

    private static final long DRAIN_CHECK_NANOS = 1_000_000;

    private final Set<Nexus> preventing = ConcurrentHashMap.newKeySet();
    private boolean ejected;
    private @Nullable LongOperation running;
    /** An operation that another server of the unit runs. */
    private @Nullable LongOperation elsewhere;
    private @Nullable Sense failure;

    /** Read by every command: true while no condition needs to be checked. */
    private volatile boolean usable = true;

    /** Number of running commands that need the medium. */
    private final AtomicInteger inUse = new AtomicInteger();

    /** Returns the sense data with which commands that need the medium fail at present; empty if they do not. */
    Optional<Sense> obstacle() {
        return usable ? Optional.empty() : slowObstacle();
    }

    private synchronized Optional<Sense> slowObstacle() {
        Optional<LongOperation> goesOn = running();
        if (goesOn.isPresent()) {
            return goesOn.map(LongOperation::sense);
        }
        return ejected ? Optional.of(NOT_PRESENT) : Optional.ofNullable(failure);
    }

    /** The operation that keeps the medium busy, here or at another server, if any. */
    synchronized Optional<LongOperation> running() {
        return here().or(() -> Optional.ofNullable(elsewhere));
    }

    /** The operation that this server runs, if any. */
    synchronized Optional<LongOperation> here() {
        return Optional.ofNullable(running);
    }

    /** Whether the medium has been ejected. */
    synchronized boolean isEjected() { return ejected; }

    /** Ejects or loads the medium; returns whether the state changed. */
    synchronized boolean eject(boolean out) {
        boolean changes = ejected != out;
        ejected = out;
        update();
        return changes;
    }

    /** Counts a command that needs the medium; called before it asks for an {@link #obstacle}. */
    void enter() {
        inUse.incrementAndGet();
    }

    /** Uncounts a command that has entered. */
    void leave() { inUse.decrementAndGet(); }

    /**
     * Waits until the commands that began before the running operation have ended, so that none of them writes during
     * it. Blocks.
     */
    void awaitUnused() {
        while (inUse.get() != 0) {
            LockSupport.parkNanos(DRAIN_CHECK_NANOS);
        }
    }

    /**
     * Takes over what another server has done.
     *
     * @param operation what it runs; null for nothing
     * @param why what every command is told until an operation succeeds; null where the last one has
     */
    synchronized void changedElsewhere(@Nullable LongOperation operation, @Nullable Sense why) {
        elsewhere = operation;
        failure = why;
        update();
    }

    /** Begins an operation; false where another goes on here. */
    synchronized boolean begin(LongOperation operation) {
        if (running != null) {
            return false;
        }
        running = operation;
        update();
        return true;
    }

    /**
     * Ends the running operation.
     *
     * @param why null on success; otherwise the sense data of every command until another operation succeeds
     */
    void end(@Nullable Sense why) {
        LongOperation ended;
        synchronized (this) {
            ended = running;
            running = null;
            failure = why;
            update();
        }
        if (ended != null) {
            ended.end().complete(null);
        }
    }

    /** Returns the sense data of a failed operation, with which every command fails; empty if none has failed. */
    synchronized Optional<Sense> failure() {
        return Optional.ofNullable(failure);
    }

    private void update() {
        usable = running == null && elsewhere == null && failure == null && !ejected;
    }

    // --- PREVENT ALLOW MEDIUM REMOVAL (SPC-5 section 6.15): per nexus ---

    void prevent(Nexus nexus, boolean prevents) {
        if (prevents) {
            preventing.add(nexus);
        } else {
            preventing.remove(nexus);
        }
    }

    boolean isRemovalPrevented() { return !preventing.isEmpty(); }

    /** Ends every prevention of removal, as a reset of the unit does. */
    void allowRemoval() {
        preventing.clear();
    }
}
