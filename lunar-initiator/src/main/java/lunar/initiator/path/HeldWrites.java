package lunar.initiator.path;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.Session;
import lunar.iscsi.Isid;
import org.jspecify.annotations.Nullable;

/**
 * Requests of a device that wait at the {@link WriteBarrier} of its unit, each as long as requests may wait for a path,
 * but at least for {@link MultipathOptions#DEFAULT_NO_PATH_MS}, since paths are up; then it fails. No request is ever
 * sent past the barrier. Ends sessions that devices closed before have left stale, and those that a path of its own has
 * left in another portal group. Thread-safe.
 */
final class HeldWrites {
    /** Stands for forever, without an overflow in nanoseconds. */
    private static final long MAX_PATIENCE_MS = TimeUnit.DAYS.toMillis(10_000);

    private final MultipathDevice owner;
    private final Initiator initiator;
    private final MultipathOptions options;
    private final long patienceMs;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<MultipathRequest> held = new ArrayDeque<>(); // guarded by the lock
    private boolean adopting; // guarded by the lock
    private boolean closed; // guarded by the lock
    private volatile @Nullable WriteBarrier barrier;

    HeldWrites(MultipathDevice owner, Initiator initiator, MultipathOptions options) {
        this.owner = owner;
        this.initiator = initiator;
        this.options = options;
        patienceMs = Math.max(options.noPathMs(), MultipathOptions.DEFAULT_NO_PATH_MS);
    }

    /** Joins the unit's barrier, once the unit is known. Requests come afterwards. */
    void begin(Identity identity) {
        lock.lock();
        try {
            if (barrier == null && !closed) {
                barrier = WriteBarrier.join(this, options.paths().getFirst().targetName(),
                        identity);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Handles a failed request. Where its session may still perform it, writes to its blocks wait. */
    void unanswered(PathSession session, BlockRequest request, StorageException failure) {
        WriteBarrier mine = barrier;
        if (mine != null && WriteBarrier.changes(request)
                && failure instanceof DeviceGoneException gone && gone.unanswered()) {
            mine.raise(session, request);
        }
    }

    /** Notes that the target has ended sessions. */
    void ended(List<PathSession> sessions) {
        WriteBarrier mine = barrier;
        if (mine != null) {
            mine.lower(sessions);
        }
    }

    /**
     * Hands over a session that a path has left in a portal group where it logs in no more: if in doubt, others end it.
     * Not at the path's present portal: a login there with its ISID would end the session that it has just made.
     */
    void abandon(PathSession session, Session made) {
        WriteBarrier mine = barrier;
        session.isNotAt(made.portal());
        if (mine != null) {
            mine.abandon(session);
        }
    }

    /** Notes a login with an ISID: the target has ended the sessions it replaces (RFC 7143 section 6.3.5). */
    void reinstated(Session made, Isid isid) {
        WriteBarrier mine = barrier;
        if (mine == null) {
            return;
        }
        var ended = new ArrayList<PathSession>();
        for (PathSession old : mine.stale()) {
            if (old.isReinstatedBy(made, isid)) {
                ended.add(old);
            } else if (old.isid().equals(isid)
                    && old.initiatorName().equals(initiator.name())) {
                old.isNotAt(made.portal());
            }
        }
        mine.lower(ended);
    }

    boolean isHeldBack(BlockRequest request) {
        WriteBarrier mine = barrier;
        return mine != null && mine.before(request) != null;
    }

    // --- requests that wait ---

    /** Holds a request until the barrier is lowered. */
    void hold(MultipathRequest multipathRequest) {
        long nowNanos = System.nanoTime();
        BlockRequest request = multipathRequest.asked();
        StorageException failure = null;
        lock.lock();
        try {
            boolean late = multipathRequest.heldUntilNanos != 0
                    && multipathRequest.heldUntilNanos - nowNanos <= 0;
            if (isHeldBack(request) && owner.hasPath()) { // or that has just changed
                if (!closed && !late) {
                    add(multipathRequest, nowNanos);
                    return;
                }
                failure = closed ? closedFailure() : tooLong(request);
            }
        } finally {
            lock.unlock();
        }
        if (failure == null) {
            multipathRequest.start();
        } else {
            owner.end(multipathRequest, failure);
        }
    }

    /** With the lock held. */
    private void add(MultipathRequest multipathRequest, long nowNanos) {
        if (multipathRequest.heldUntilNanos == 0 && patienceMs != MultipathOptions.FOREVER) {
            multipathRequest.heldUntilNanos = Math.max(1, nowNanos + patienceMs * 1_000_000);
            CompletableFuture.delayedExecutor(patienceMs, TimeUnit.MILLISECONDS)
                    .execute(this::expire);
        }
        held.add(multipathRequest);
    }

    private void expire() {
        var late = new ArrayList<MultipathRequest>();
        long nowNanos = System.nanoTime();
        lock.lock();
        try {
            held.removeIf(multipathRequest -> multipathRequest.heldUntilNanos != 0
                    && multipathRequest.heldUntilNanos - nowNanos <= 0
                    && late.add(multipathRequest));
        } finally {
            lock.unlock();
        }
        late.forEach(
                multipathRequest -> owner.end(multipathRequest, tooLong(multipathRequest.asked())));
    }

    /**
     * Waits until no earlier write can undo a request, or no path is up.
     *
     * @param knownUntilNanos result of an earlier call for the request; 0 for the first
     * @return the time until which it may wait
     */
    long await(BlockRequest request, long knownUntilNanos) throws DeviceGoneException {
        long untilNanos = knownUntilNanos != 0
                ? knownUntilNanos
                : Math.max(1, System.nanoTime() + TimeUnit.MILLISECONDS
                        .toNanos(Math.min(patienceMs, MAX_PATIENCE_MS)));
        boolean interrupted = false;
        lock.lock();
        try {
            while (isHeldBack(request) && owner.hasPath()) {
                if (closed) {
                    throw closedFailure();
                }
                long left = untilNanos - System.nanoTime();
                if (left <= 0) {
                    throw tooLong(request);
                }
                try {
                    long _ = changed.awaitNanos(left);
                } catch (InterruptedException _) { // as for any request: its end is bounded in another way
                    interrupted = true;
                }
            }
            return untilNanos;
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private DeviceGoneException tooLong(BlockRequest request) {
        WriteBarrier mine = barrier;
        PathSession before = mine == null ? null : mine.before(request);
        return new DeviceGoneException(owner + ": " + request + " waited " + patienceMs
                + " ms for an earlier write to its blocks, which the target may still perform"
                + (before == null
                        ? ""
                        : ": " + before + " is lost, and no portal of its group"
                                + " takes the login that ends it; restore one of them"));
    }

    private DeviceGoneException closedFailure() {
        return new DeviceGoneException(owner + " is closed");
    }

    /** Starts held requests again: the barrier is lowered, or a part of it, or no path is up any more. */
    void lowered() {
        drain().forEach(MultipathRequest::start);
    }

    private List<MultipathRequest> drain() {
        lock.lock();
        try {
            List<MultipathRequest> all = List.copyOf(held);
            held.clear();
            changed.signalAll();
            return all;
        } finally {
            lock.unlock();
        }
    }

    // --- what other devices have left, and own paths in other portal groups ---

    /** Ends the stale sessions that no path ends any more by a login of its own, if there are any. */
    void adopt() {
        WriteBarrier mine = barrier;
        lock.lock();
        try {
            if (closed || adopting || mine == null || mine.staleBeside(this).isEmpty()) {
                return;
            }
            adopting = true;
        } finally {
            lock.unlock();
        }
        var _ = Thread.ofVirtual().name("lunar-fence").start(() -> endOthers(mine));
    }

    private void endOthers(WriteBarrier mine) {
        long pauseMs = options.minPauseMs();
        do {
            for (PathSession other : mine.staleBeside(this)) {
                if (other.isInDoubt() && SessionFence.end(initiator, other,
                        owner.sessionsBeside(null), true)) {
                    mine.lower(List.of(other));
                }
            }
            pauseMs = Math.min(options.maxPauseMs(), 2 * pauseMs);
        } while (pause(mine, pauseMs));
    }

    /** Waits before the next try; false where there is nothing left to try. */
    private boolean pause(WriteBarrier mine, long ms) {
        lock.lock();
        try {
            long left = ms * 1_000_000;
            while (left > 0 && !closed && !mine.staleBeside(this).isEmpty()) {
                left = changed.awaitNanos(left);
            }
            adopting = !closed && !mine.staleBeside(this).isEmpty();
            return adopting;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            adopting = false;
            return false;
        } finally {
            lock.unlock();
        }
    }

    // --- the end ---

    /** Refuses further requests, and fails those that wait. */
    void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        drain().forEach(multipathRequest -> owner.end(multipathRequest, closedFailure()));
    }

    /** Called when the paths have stopped; sessions that they leave stale are for the unit's next device to end. */
    void leave(List<PathSession> left) {
        WriteBarrier mine = barrier;
        if (mine != null) {
            mine.leave(this, left);
        }
    }
}
