package lunar.initiator.multipath;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.initiator.internal.retry.Backoff;
import lunar.iscsi.pdu.Isid;
import org.jspecify.annotations.Nullable;

/**
 * Holds requests of a device that wait at the {@link WriteBarrier} of its unit, up to the {@link HoldLimit}; then the
 * request fails. No request bypasses the barrier. Also ends stale sessions of closed devices, and those that its own
 * paths have left in another portal group. Thread-safe.
 */
final class HeldWrites implements BarrierUser {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    private final String unit;
    private final UsablePaths paths;
    private final Initiator initiator;
    private final MultipathOptions options;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<WaitingRequest> held = new ArrayDeque<>(); // guarded by the lock
    private final ExpiryTimer expiry = new ExpiryTimer(this::expire); // guarded by the lock
    private boolean adopting; // guarded by the lock
    private boolean closed; // guarded by the lock
    private volatile @Nullable SessionJournal journal;
    private volatile @Nullable WriteBarrier barrier;
    private volatile HoldLimit limit;

    /** @param unit name of the unit, for messages */
    HeldWrites(String unit, UsablePaths paths, Initiator initiator, MultipathOptions options) {
        this.unit = unit;
        this.paths = paths;
        this.initiator = initiator;
        this.options = options;
        limit = HoldLimit.of(options, System.nanoTime());
    }

    /** Returns the records of the sessions, for the process that comes after this one. Only after {@link #begin}. */
    SessionJournal journal() {
        return Objects.requireNonNull(journal);
    }

    /**
     * Joins the barrier of the unit, and raises it for sessions that an earlier process has left. Must be called before
     * the first request. No effect after the first call.
     */
    void begin(Identity identity) throws StorageException {
        if (journal != null) {
            return;
        }
        SessionOptions first = options.paths().getFirst();
        var sessions = new SessionJournal(options.records(), first.targetName(), identity);
        List<PathSession> earlier = sessions.earlier().stream()
                .map(left -> PathSession.ofEarlier(left, optionsOf(left), sessions)).toList();
        lock.lock();
        try {
            if (barrier == null && !closed) {
                WriteBarrier joined = WriteBarrier.join(this, first.targetName(), identity);
                joined.inherit(earlier, this);
                limit = HoldLimit.of(options, System.nanoTime());
                barrier = joined;
            }
        } finally {
            lock.unlock();
        }
        journal = sessions; // last: where it fails, the next path begins
    }

    /** Returns the options of a path with the transport of a session, and so with its TLS files. */
    private SessionOptions optionsOf(SessionRecord session) {
        return options.paths().stream().filter(path -> path.scheme().equals(session.scheme()))
                .findFirst().orElseGet(() -> options.paths().getFirst());
    }

    /** Handles a failed request. Where its session may still perform it, writes to its blocks wait. */
    void unanswered(PathSession session, BlockRequest request, StorageException failure) {
        WriteBarrier mine = barrier;
        if (mine != null && WriteBarrier.changes(request)
                && failure instanceof DeviceGoneException gone && gone.unanswered()) {
            mine.raise(session, request);
        }
    }

    /** Records that the target has ended sessions. */
    void ended(List<PathSession> sessions) {
        WriteBarrier mine = barrier;
        if (mine != null) {
            mine.lower(sessions);
        }
    }

    /**
     * Hands over a session that a path has left in a portal group where it no longer logs in, so that other paths end
     * it. They must not use the path's present portal: a login there with its ISID would end the session just
     * established.
     */
    void abandon(PathSession session, Session made) {
        WriteBarrier mine = barrier;
        session.isNotAt(made.options().withPortal(made.portal()));
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
                old.isNotAt(made.options().withPortal(made.portal()));
            }
        }
        mine.lower(ended);
    }

    boolean isHeldBack(BlockRequest request) { return before(request) != null; }

    private @Nullable PathSession before(BlockRequest request) {
        WriteBarrier mine = barrier;
        return mine == null ? null : mine.before(request);
    }

    // --- requests that wait ---

    /** Holds a request until the barrier is lowered. */
    void hold(WaitingRequest request) {
        long nowNanos = System.nanoTime();
        StorageException failure = null;
        lock.lock();
        try {
            PathSession before = before(request.asked());
            if (before != null && paths.hasPath()) { // or that has just changed
                if (request.heldSinceNanos == 0) {
                    request.heldSinceNanos = nowNanos;
                }
                request.heldUntilNanos = limit.untilNanos(before.isEarlier(),
                        request.heldSinceNanos);
                if (!closed && !isLate(request, nowNanos)) {
                    add(request);
                    return;
                }
                failure = closed ? closedFailure() : tooLong(request.asked(), before);
            }
        } finally {
            lock.unlock();
        }
        if (failure == null) {
            request.resume();
        } else {
            request.fail(failure);
        }
    }

    private static boolean isLate(WaitingRequest request, long nowNanos) {
        return request.heldUntilNanos != 0 && request.heldUntilNanos - nowNanos <= 0;
    }

    /** With the lock held. */
    private void add(WaitingRequest request) {
        if (request.heldUntilNanos != 0) {
            expiry.set(request.heldUntilNanos);
        }
        held.add(request);
    }

    private void expire() {
        var late = new ArrayList<WaitingRequest>();
        lock.lock();
        try {
            expiry.expired();
            long nowNanos = System.nanoTime();
            held.removeIf(request -> isLate(request, nowNanos) && late.add(request));
            for (WaitingRequest request : held) {
                if (request.heldUntilNanos != 0) {
                    expiry.set(request.heldUntilNanos);
                }
            }
        } finally {
            lock.unlock();
        }
        WaitingRequest.forEach(late,
                request -> request.fail(tooLong(request.asked(), before(request.asked()))));
    }

    private DeviceGoneException tooLong(BlockRequest request, @Nullable PathSession before) {
        return new DeviceGoneException(unit + ": " + request
                + (before != null && before.isEarlier()
                        ? " is not sent, even " + limit.ms(true) + " ms after the unit was opened:"
                                + " the target may still perform an earlier write to its blocks"
                        : " waited " + limit.ms(false) + " ms for an earlier write to its blocks,"
                                + " which the target may still perform")
                + (before == null
                        ? ""
                        : ": " + before + " is lost, and no portal of its group"
                                + " accepts the login that ends it" + latest(before)
                                + "; restore one of them"));
    }

    private static String latest(PathSession before) {
        return before.obstacle().isEmpty() ? "" : " (" + before.obstacle() + ")";
    }

    private DeviceGoneException closedFailure() {
        return new DeviceGoneException(unit + " is closed");
    }

    /** {@inheritDoc} Also called when no path is up any longer: they then wait for a path. */
    @Override
    public void lowered() { WaitingRequest.forEach(drain(), WaitingRequest::resume); }

    private List<WaitingRequest> drain() {
        lock.lock();
        try {
            List<WaitingRequest> all = List.copyOf(held);
            held.clear();
            changed.signalAll();
            return all;
        } finally {
            lock.unlock();
        }
    }

    // --- what other devices have left, and own paths in other portal groups ---

    @Override
    public void adopt() {
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
        var backoff = new Backoff(options.minPauseMs(), options.maxPauseMs());
        boolean first = true;
        do {
            for (PathSession other : mine.staleBeside(this)) {
                if (other.isInDoubt() && SessionFence.end(initiator, other,
                        paths.sessionsBeside(null), true)) {
                    mine.lower(List.of(other));
                } else if (first && other.isEarlier() && other.isInDoubt()) {
                    tellBlocked(other);
                }
            }
            first = false;
        } while (pause(mine, backoff.nextMs()));
        journal().store();
    }

    private void tellBlocked(PathSession earlier) {
        LOG.log(System.Logger.Level.WARNING, "{0}: writes wait for the end of {1}, which a killed"
                + " process has left: no portal of its group accepts the login that ends it{2}."
                + " Restore one of them; if they are gone for good, and nothing on the way can"
                + " hold writes any longer, stop the server and remove {3} from its state directory",
                unit, earlier, latest(earlier), journal().name());
    }

    /** Waits before the next attempt; returns false if there is nothing left to do. */
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
        WaitingRequest.forEach(drain(), request -> request.fail(closedFailure()));
    }

    /** Called when the paths have stopped; sessions that they leave stale are for the unit's next device to end. */
    void leave(List<PathSession> left) {
        WriteBarrier mine = barrier;
        if (mine != null) {
            mine.leave(this, left);
        }
        SessionJournal sessions = journal;
        if (sessions != null) {
            sessions.close();
        }
    }
}
