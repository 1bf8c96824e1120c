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

/** Whether the medium of a unit can be used: it is loaded, and not being erased (SBC-4 section 4.4). Thread-safe. */
final class Medium {
    private static final Sense NOT_PRESENT = Sense.of(SenseKey.NOT_READY,
            AdditionalSense.MEDIUM_NOT_PRESENT);

    private static final long DRAIN_CHECK_NANOS = 1_000_000;

    private final Set<Nexus> preventing = ConcurrentHashMap.newKeySet();
    private boolean ejected;
    private @Nullable LongOperation running;
    private @Nullable Sense failure;

    /** Read by every command: true while there is nothing to look at. */
    private volatile boolean usable = true;

    /** Commands at work that need the medium. */
    private final AtomicInteger inUse = new AtomicInteger();

    /** Why a command that needs the medium fails now; empty where it does not. */
    Optional<Sense> obstacle() {
        return usable ? Optional.empty() : slowObstacle();
    }

    private synchronized Optional<Sense> slowObstacle() {
        if (running != null) {
            return Optional.of(running.sense());
        }
        return ejected ? Optional.of(NOT_PRESENT) : Optional.ofNullable(failure);
    }

    /** The operation that keeps the medium busy, if any. */
    synchronized Optional<LongOperation> running() {
        return Optional.ofNullable(running);
    }

    /** Whether the medium has been taken out. */
    synchronized boolean isEjected() {
        return ejected;
    }

    /** Takes the medium out, or puts it in; whether that has changed anything. */
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

    /** Ends the count of a command that has entered. */
    void leave() { inUse.decrementAndGet(); }

    /**
     * Waits until the commands that had begun before the running operation have ended, so that none of them writes
     * behind its back. Blocks.
     */
    void awaitUnused() {
        while (inUse.get() != 0) {
            LockSupport.parkNanos(DRAIN_CHECK_NANOS);
        }
    }

    /** Begins an operation; false where another goes on. */
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
     * @param why null where it succeeded; otherwise what every command is told until another operation succeeds
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

    /** Returns the sense of every command since an operation has failed; empty where none has. */
    synchronized Optional<Sense> failure() {
        return Optional.ofNullable(failure);
    }

    private void update() { usable = running == null && failure == null && !ejected; }

    // --- PREVENT ALLOW MEDIUM REMOVAL (SPC-5 section 6.15): each nexus prevents for itself ---

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
