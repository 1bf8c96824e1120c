package lunar.initiator.path;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.Extent;
import lunar.block.Fencing;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.LunDevice;
import lunar.initiator.SessionOptions;
import lunar.initiator.UnflushedWrites;
import lunar.scsi.TargetPortGroups;
import org.jspecify.annotations.Nullable;

/**
 * A logical unit over one or more paths. A lost session is replaced by a new one, and its requests are sent again if
 * they are idempotent: all but compare-and-write, which fails with "not known". While no path is up, requests wait as
 * long as {@link MultipathOptions#noPathMs} says. Thread-safe; buffers as for {@link LunDevice}.
 */
public final class MultipathDevice implements BlockDevice {
    private final MultipathOptions options;
    private final List<PathAgent> paths;
    private final Runnable whenClosed;
    private final EventDispatcher dispatcher;
    private final UnflushedWrites writes;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** Paths that are up, whatever their access state; guarded by the lock. */
    private final List<PathAgent> up = new ArrayList<>();
    private final Deque<MultipathRequest> parked = new ArrayDeque<>(); // guarded by the lock
    private final HeldWrites held;
    private @Nullable Exception lastFailure; // guarded by the lock
    private final Outage outage; // guarded by the lock
    private volatile List<PathAgent> usable = List.of();
    private volatile @Nullable LunDevice latest;
    private final MultipathRequestPool multipathRequests = new MultipathRequestPool();
    private final PathReservations reservations;
    private final RequestGate gate = new RequestGate();
    private volatile boolean open;

    private MultipathDevice(Initiator initiator, MultipathOptions options, Runnable whenClosed) {
        this.options = options;
        this.whenClosed = whenClosed;
        dispatcher = new EventDispatcher(options.listener());
        writes = new UnflushedWrites(options.stableCache());
        outage = new Outage(this, dispatcher);
        held = new HeldWrites(this, initiator, options);
        var all = new ArrayList<PathAgent>();
        for (SessionOptions path : options.paths()) {
            all.add(new PathAgent(this, initiator, path, options, all.size()));
        }
        paths = List.copyOf(all);
        reservations = new PathReservations(toString(), this::devices);
    }

    /** Registers the reservation by a path that others see now: it may have come up while the unit was reserved. */
    void register(LunDevice by) throws StorageException {
        by.learn(latest); // of another path that was admitted since
        reservations.admit(by);
    }

    /** Returns the unit's device by each path that is up. */
    private List<LunDevice> devices() {
        return paths.stream().map(PathAgent::session).filter(Objects::nonNull)
                .map(PathSession::device).toList();
    }

    /**
     * Opens a unit. Waits until a path is up; the others follow.
     *
     * @throws DeviceGoneException when no path was up at the first try of each
     */
    public static MultipathDevice open(Initiator initiator, MultipathOptions options)
            throws StorageException {
        return open(initiator, options, () -> {});
    }

    /** Like {@link #open(Initiator, MultipathOptions)}, but runs an action when the device is closed. */
    static MultipathDevice open(Initiator initiator, MultipathOptions options, Runnable whenClosed)
            throws StorageException {
        var device = new MultipathDevice(initiator, options, whenClosed);
        device.paths.forEach(PathAgent::start);
        try {
            device.awaitFirst();
            device.open = true;
            device.held.adopt();
            return device;
        } catch (StorageException e) {
            device.close();
            throw e;
        }
    }

    private void awaitFirst() throws StorageException {
        lock.lock();
        try {
            while (usable.isEmpty() && paths.stream().anyMatch(PathAgent::isUntried)) {
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

    /** Whether a path has been up. */
    boolean isOpen() { return open; }

    /** Returns the paths, in the order they were given, whatever their state. */
    public List<Path> paths() {
        return List.copyOf(paths);
    }

    // --- what paths tell ---

    /** Admits a path that leads to this unit; throws {@link ForeignUnitException} if it leads to another one. */
    void admit(LunDevice by) throws StorageException, ForeignUnitException {
        lock.lock(); // two may come at once, and only one of them is the first
        try {
            LunDevice known = latest;
            if (known != null && !(known.identity().equals(by.identity())
                    && known.geometry().blockSize() == by.geometry().blockSize())) {
                throw new ForeignUnitException(by + " is " + by.identity() + ", and not "
                        + known.identity() + " as by other paths");
            }
            held.begin(by.identity());
            by.learn(known);
            latest = by;
            devices().forEach(other -> other.learn(by));
        } finally {
            lock.unlock();
        }
        reservations.admit(by);
    }

    MultipathOptions options() { return options; }

    /** Returns the tracker of the unit's unflushed writes, shared by all paths and their sessions. */
    UnflushedWrites writes() {
        return writes;
    }

    /** Checks whether the unit's cache may be lost, when a new session has found it, before it is used. May block. */
    void reopened(PathAgent path, LunDevice by) {
        writes.reopened(by, by.resetTold(), by.writeVerifier(), () -> paths.stream()
                .filter(other -> !other.equals(path)).map(PathAgent::session)
                .anyMatch(older -> older != null && older.reachesUnit()));
    }

    /** Adds a path that is up. */
    void offer(PathAgent path) {
        List<MultipathRequest> resumed;
        lock.lock();
        try {
            if (!up.contains(path)) {
                up.add(path);
            }
            weigh();
            resumed = List.copyOf(parked);
            parked.clear();
        } finally {
            lock.unlock();
        }
        resumed.forEach(MultipathRequest::start);
        paths.stream().filter(other -> !other.equals(path)).forEach(PathAgent::help);
    }

    /** Removes a path that is not to be used. */
    void withdraw(PathAgent path) {
        boolean last;
        lock.lock();
        try {
            boolean was = up.remove(path);
            if (was) {
                weigh();
            }
            last = was && usable.isEmpty();
        } finally {
            lock.unlock();
        }
        if (last) {
            held.lowered(); // what is held back waits for a path now
        }
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

    /** Has every path check its access state. */
    void lookAtAccess() {
        paths.forEach(PathAgent::wake);
    }

    /** Asks the unit for its capacity by every path: an idle one has received no unit attention. */
    void askCapacity() {
        devices().forEach(LunDevice::askCapacity);
    }

    void tell(PathEvent event) {
        lock.lock();
        try {
            weigh();
        } finally {
            lock.unlock();
        }
        announce(listener -> listener.changed(event));
    }

    /** Dispatches an event that does not change which paths are usable. */
    void announce(Consumer<PathListener> event) {
        dispatcher.tell(event);
    }

    /** Selects the usable paths: those up and in the best access state, in the given order; with the lock held. */
    private void weigh() {
        TargetPortGroups.State best = up.stream().map(PathAgent::access).min(Enum::compareTo)
                .orElse(TargetPortGroups.State.ACTIVE_OPTIMIZED);
        usable = paths.stream().filter(path -> up.contains(path) && path.access() == best).toList();
        if (!usable.isEmpty()) {
            outage.over();
        }
        changed.signalAll();
    }

    /** Returns the writes that wait for the end of earlier ones. */
    HeldWrites heldWrites() {
        return held;
    }

    /** Returns the sessions of usable paths, except one. */
    List<PathSession> sessionsBeside(@Nullable PathAgent path) {
        return usable.stream().filter(other -> !other.equals(path)).map(PathAgent::session)
                .filter(Objects::nonNull).toList();
    }

    // --- requests ---

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

    @Override
    public void submit(BlockRequest request) {
        if (!gate.enter()) {
            request.fail(closedFailure());
            return;
        }
        try {
            request.check(this);
        } catch (StorageException e) {
            end(request, e);
            return;
        }
        MultipathRequest idle = multipathRequests.take();
        (idle == null ? new MultipathRequest(this) : idle).with(request).start();
    }

    /** Completes a request. */
    void end(MultipathRequest multipathRequest, @Nullable StorageException failure) {
        BlockRequest request = multipathRequest.land();
        multipathRequests.give(multipathRequest);
        end(request, failure);
    }

    private void end(BlockRequest request, @Nullable StorageException failure) {
        try {
            request.end(failure);
        } finally {
            gate.leave();
        }
    }

    /** Parks a request that has no path now. */
    void park(MultipathRequest multipathRequest) {
        long nowNanos = System.nanoTime();
        boolean resume;
        StorageException failure = null;
        lock.lock();
        try {
            resume = !usable.isEmpty();
            if (!resume && (gate.isClosed() || options.noPathMs() == 0
                    || (multipathRequest.giveUpNanos != 0
                            && multipathRequest.giveUpNanos - nowNanos <= 0))) {
                failure = giveUp();
            } else if (!resume) {
                if (multipathRequest.giveUpNanos == 0
                        && options.noPathMs() != MultipathOptions.FOREVER) {
                    multipathRequest.giveUpNanos = options.giveUpNanos(nowNanos);
                    CompletableFuture.delayedExecutor(options.noPathMs(), TimeUnit.MILLISECONDS)
                            .execute(this::expire);
                }
                parked.add(multipathRequest);
                outage.held();
            }
        } finally {
            lock.unlock();
        }
        if (resume) {
            multipathRequest.start();
        } else if (failure != null) {
            end(multipathRequest, failure);
        }
    }

    private void expire() {
        List<MultipathRequest> late = new ArrayList<>();
        long nowNanos = System.nanoTime();
        StorageException failure = null;
        lock.lock();
        try {
            parked.removeIf(multipathRequest -> multipathRequest.giveUpNanos != 0
                    && multipathRequest.giveUpNanos - nowNanos <= 0 && late.add(multipathRequest));
            if (!late.isEmpty()) {
                failure = giveUp();
            }
        } finally {
            lock.unlock();
        }
        for (MultipathRequest multipathRequest : late) {
            end(multipathRequest, failure);
        }
    }

    /** Returns the failure of a request that has waited for a path in vain; with the lock held. */
    private DeviceGoneException giveUp() {
        Exception why = lastFailure;
        var failure = new DeviceGoneException(this + ": no path is up"
                + (why == null ? "" : ", lately: " + why.getMessage()), why);
        if (!gate.isClosed()) {
            outage.gaveUp(failure);
        }
        return failure;
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        if (!gate.enter()) {
            throw closedFailure();
        }
        try {
            request.check(this);
            boolean late = false;
            long heldUntilNanos = 0;
            var refusal = new Refusal(options);
            long reportedBefore = writes.reported();
            while (true) {
                PathAgent path = await(request);
                if (held.isHeldBack(request)) {
                    heldUntilNanos = held.await(request, heldUntilNanos);
                    continue;
                }
                PathSession session = path.session();
                if (session == null) {
                    withdraw(path);
                    continue;
                }
                long begunNanos = System.nanoTime();
                boolean well = false;
                path.begun();
                try {
                    session.device().execute(new BlockRequest().asCopyOf(request));
                    well = true;
                    writes.requireNoLoss(request, reportedBefore);
                    return;
                } catch (DeadlineException e) {
                    if (late || !hasOther(path) || !MultipathRequest.mayBeSentAgain(request)) {
                        throw e;
                    }
                    late = true;
                } catch (DeviceGoneException e) {
                    held.unanswered(session, request, e);
                    path.suspect(session);
                    if (!MultipathRequest.mayBeSentAgain(request)) {
                        throw MultipathRequest.unknown(request, e);
                    }
                    if (refusal.isFinal(session)) {
                        throw e;
                    }
                } finally {
                    path.ended(System.nanoTime() - begunNanos, well);
                }
            }
        } finally {
            gate.leave();
        }
    }

    /** Waits for a path for a request, and returns it. */
    private PathAgent await(BlockRequest request) throws StorageException {
        PathAgent chosen = choose(request);
        if (chosen != null) {
            return chosen;
        }
        boolean interrupted = false;
        long left = options.noPathMs() == MultipathOptions.FOREVER
                ? Long.MAX_VALUE
                : options.noPathMs() * 1_000_000;
        lock.lock();
        try {
            while (true) {
                chosen = choose(request);
                if (chosen != null) {
                    return chosen;
                }
                if (gate.isClosed() || left <= 0) {
                    throw giveUp();
                }
                outage.held();
                try {
                    left = changed.awaitNanos(left);
                } catch (InterruptedException _) { // as for any request: its end is bounded in another way
                    interrupted = true;
                }
            }
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private DeviceGoneException closedFailure() {
        return new DeviceGoneException(this + " is closed");
    }

    // --- what it is ---

    private LunDevice latest() { return Objects.requireNonNull(latest); }

    @Override
    public Geometry geometry() { return latest().geometry(); }

    @Override
    public Limits limits() { return latest().limits(); }

    @Override
    public Set<Capability> capabilities() { return latest().capabilities(); }

    @Override
    public Identity identity() { return latest().identity(); }

    @Override
    public boolean readOnly() { return latest().readOnly(); }

    @Override
    public Optional<UUID> writeVerifier() { return latest().writeVerifier(); }

    @Override
    public long writeLosses() { return writes.writeLosses(); }

    @Override
    public Optional<Fencing> fencing() { return Optional.of(reservations); }

    @Override
    public Extent extent(long lba) throws StorageException {
        if (!gate.enter()) {
            throw closedFailure();
        }
        try {
            List<PathAgent> now = usable;
            PathSession session = now.isEmpty() ? null : now.getFirst().session();
            return session == null
                    ? BlockDevice.super.extent(lba)
                    : session.device().extent(lba);
        } catch (DeviceGoneException _) {
            return BlockDevice.super.extent(lba); // a path has gone, and it is but a hint
        } finally {
            gate.leave();
        }
    }

    /** Waits for the requests in flight, those without a path excepted, then logs out of all paths. Idempotent. */
    @Override
    public void close() {
        List<MultipathRequest> waiting;
        lock.lock();
        try {
            gate.close();
            changed.signalAll();
            waiting = List.copyOf(parked);
            parked.clear();
        } finally {
            lock.unlock();
        }
        waiting.forEach(multipathRequest -> end(multipathRequest, closedFailure()));
        held.close();
        boolean interrupted = gate.awaitNone();
        paths.forEach(PathAgent::stop);
        for (PathAgent path : paths) {
            try {
                path.awaitStop();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        held.leave(paths.stream().flatMap(path -> path.left().stream()).toList());
        try {
            dispatcher.awaitTold();
        } catch (InterruptedException _) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        whenClosed.run();
    }

    @Override
    public String toString() {
        SessionOptions first = options.paths().getFirst();
        return first.targetName() + "/" + options.lun() + " over " + paths.size()
                + (paths.size() == 1 ? " path" : " paths");
    }
}
