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
import lunar.block.StorageException;
import lunar.scsi.primary.TargetPortGroups;
import org.jspecify.annotations.Nullable;

/**
 * The usable paths of a unit: those that are up and in the best access state. Requests without a usable path wait here
 * for {@link MultipathOptions#noPathMs}. Thread-safe.
 */
final class UsablePaths {
    private final String unit;
    private final MultipathOptions options;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private volatile List<PathAgent> all = List.of();
    /** Paths that are up, whatever their access state; guarded by the lock. */
    private final List<PathAgent> up = new ArrayList<>();
    private final Deque<WaitingRequest> parked = new ArrayDeque<>(); // guarded by the lock
    private @Nullable Exception lastFailure; // guarded by the lock
    private final Outage outage; // guarded by the lock
    private boolean closed; // guarded by the lock
    private final ExpiryTimer expiry = new ExpiryTimer(this::expire); // guarded by the lock
    private volatile List<PathAgent> usable = List.of();

    /** @param unit name of the unit, for messages */
    UsablePaths(String unit, MultipathOptions options, Outage outage) {
        this.unit = unit;
        this.options = options;
        this.outage = outage;
    }

    /** Begins with all paths, in the order they were given, before any of them starts. */
    void begin(List<PathAgent> paths) {
        all = List.copyOf(paths);
    }

    /** Returns all paths, whatever their state. */
    List<PathAgent> all() { return all; }

    // --- reports of paths ---

    /** Adds a path that is up. */
    void offer(PathAgent path) {
        List<WaitingRequest> resumed;
        lock.lock();
        try {
            if (!up.contains(path)) {
                up.add(path);
            }
            resumed = select();
        } finally {
            lock.unlock();
        }
        WaitingRequest.forEach(resumed, WaitingRequest::resume);
    }

    /** Removes a path that is not to be used. Returns whether it was the last one. */
    boolean withdraw(PathAgent path) {
        List<WaitingRequest> resumed;
        lock.lock();
        try {
            if (!up.remove(path)) {
                return false;
            }
            resumed = select();
            if (usable.isEmpty()) {
                return true;
            }
        } finally {
            lock.unlock();
        }
        WaitingRequest.forEach(resumed, WaitingRequest::resume);
        return false;
    }

    /** Notes a failed login or a lost session. */
    void failed(Exception why) {
        lock.lock();
        try {
            lastFailure = why;
        } finally {
            lock.unlock();
        }
    }

    /** Selects the usable paths again, since the state of a path has changed. */
    void weigh() {
        List<WaitingRequest> resumed;
        lock.lock();
        try {
            resumed = select();
        } finally {
            lock.unlock();
        }
        WaitingRequest.forEach(resumed, WaitingRequest::resume);
    }

    /**
     * Selects the usable paths: those up and in the best access state, in the given order; with the lock held.
     *
     * @return the parked requests that can continue, no longer parked; for the caller to resume, without the lock
     */
    private List<WaitingRequest> select() {
        var best = new ArrayList<PathAgent>();
        TargetPortGroups.State bestState = null;
        for (PathAgent path : all) {
            if (!up.contains(path)) {
                continue;
            }
            TargetPortGroups.State state = path.access(); // once: it may change at any time
            int order = bestState == null ? -1 : state.compareTo(bestState);
            if (order < 0) {
                bestState = state;
                best.clear();
            }
            if (order <= 0) {
                best.add(path);
            }
        }
        usable = List.copyOf(best);
        changed.signalAll();
        if (best.isEmpty()) {
            return List.of();
        }
        outage.over();
        List<WaitingRequest> resumed = List.copyOf(parked);
        parked.clear();
        return resumed;
    }

    // --- queries of requests ---

    /** Returns the path for a request; null while none can be used. */
    @Nullable
    PathAgent choose(BlockRequest request) {
        List<PathAgent> now = usable;
        return switch (now.size()) {
            case 0 -> null;
            case 1 -> now.getFirst();
            default -> (PathAgent) options.policy().choose(now, request);
        };
    }

    boolean hasPath() { return !usable.isEmpty(); }

    boolean hasOther(PathAgent than) {
        List<PathAgent> now = usable;
        return now.size() > 1 || (now.size() == 1 && !now.getFirst().equals(than));
    }

    /** Returns the session of the first usable path; null while there is none. */
    @Nullable
    PathSession first() {
        List<PathAgent> now = usable;
        return now.isEmpty() ? null : now.getFirst().session();
    }

    /** Returns the sessions of usable paths, except one. */
    List<PathSession> sessionsBeside(@Nullable PathAgent path) {
        return usable.stream().filter(other -> !other.equals(path)).map(PathAgent::session)
                .filter(Objects::nonNull).toList();
    }

    /** Waits until a path is usable, or the first login of each has failed. */
    void awaitFirst() throws StorageException {
        lock.lock();
        try {
            while (usable.isEmpty() && all.stream().anyMatch(PathAgent::isUntried)) {
                changed.await();
            }
            if (usable.isEmpty()) {
                Exception why = lastFailure;
                throw why instanceof StorageException already
                        ? already
                        : new DeviceGoneException(why == null
                                ? "no path to the unit can be used"
                                : String.valueOf(why.getMessage()), why);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DeviceGoneException("interrupted", e);
        } finally {
            lock.unlock();
        }
    }

    /** Parks a request that has no path now. */
    void park(WaitingRequest request) {
        long nowNanos = System.nanoTime();
        boolean resume;
        StorageException failure = null;
        lock.lock();
        try {
            resume = !usable.isEmpty();
            if (!resume && (closed || options.noPathMs() == 0
                    || (request.giveUpNanos != 0 && request.giveUpNanos - nowNanos <= 0))) {
                failure = giveUp();
            } else if (!resume) {
                if (request.giveUpNanos == 0 && options.noPathMs() != MultipathOptions.FOREVER) {
                    request.giveUpNanos = options.giveUpNanos(nowNanos);
                }
                if (request.giveUpNanos != 0) {
                    expiry.set(request.giveUpNanos);
                }
                parked.add(request);
                outage.held();
            }
        } finally {
            lock.unlock();
        }
        if (resume) {
            request.resume();
        } else if (failure != null) {
            request.fail(failure);
        }
    }

    private void expire() {
        List<WaitingRequest> late = new ArrayList<>();
        Deque<DeviceGoneException> failures = new ArrayDeque<>();
        lock.lock();
        try {
            expiry.expired();
            long nowNanos = System.nanoTime();
            parked.removeIf(request -> request.giveUpNanos != 0
                    && request.giveUpNanos - nowNanos <= 0 && late.add(request));
            late.forEach(_ -> failures.add(giveUp()));
            for (WaitingRequest request : parked) {
                if (request.giveUpNanos != 0) {
                    expiry.set(request.giveUpNanos);
                }
            }
        } finally {
            lock.unlock();
        }
        WaitingRequest.forEach(late, request -> request.fail(failures.remove()));
    }

    /** Returns the failure of a request that has waited for a path without result; with the lock held. */
    private DeviceGoneException giveUp() {
        Exception why = lastFailure;
        var failure = new DeviceGoneException(unit + ": no path is up"
                + (why == null ? "" : ", lately: " + why.getMessage()), why);
        if (!closed) {
            outage.gaveUp(failure);
        }
        return failure;
    }

    /** Rejects further waiting requests, and returns those that wait. */
    List<WaitingRequest> close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
            List<WaitingRequest> waiting = List.copyOf(parked);
            parked.clear();
            return waiting;
        } finally {
            lock.unlock();
        }
    }
}
