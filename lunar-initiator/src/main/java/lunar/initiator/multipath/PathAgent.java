package lunar.initiator.multipath;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.LunDevice;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.initiator.UnflushedWrites;
import lunar.initiator.internal.retry.Backoff;
import lunar.iscsi.LoginException;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.AdditionalSense;
import lunar.scsi.primary.TargetPortGroups;
import org.jspecify.annotations.Nullable;

/**
 * Maintains a path: a virtual thread logs in, waits until the session is lost or unusable for the unit, and logs in
 * again with backoff. It uses the same ISID each time, so that the target ends commands of the previous session
 * (session reinstatement, RFC 7143 section 6.3.5) before they are retried. A busy or unreachable target is retried
 * soon. A target that has rejected this initiator (login status class 2), which waiting does not fix, is retried at the
 * longest pause only, so that no account is locked.
 */
final class PathAgent implements Path {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** Weight of the latest request in the moving average, as a right shift. */
    private static final int AVERAGE_SHIFT = 4;

    /** The unit that the path leads to, with its other paths. */
    interface Owner {
        /** Whether a path has been up. */
        boolean isOpen();

        /** Admits a path that leads to this unit; throws {@link ForeignUnitException} if it leads to another one. */
        void admit(LunDevice by) throws StorageException, ForeignUnitException;

        /**
         * Registers the reservation on a path that is now visible to others, because it may have come up while the unit
         * was reserved.
         */
        void register(LunDevice by) throws StorageException;

        /**
         * Checks whether the unit's cache may be lost, when a new session has found it, before it is used. May block.
         */
        void reopened(PathAgent path, LunDevice by) throws StorageException;

        /** Returns the tracker of the unit's unflushed writes, shared by all paths and their sessions. */
        UnflushedWrites writes();

        /** Returns the writes that wait for the end of earlier ones. */
        HeldWrites heldWrites();

        /** Adds a path that is up. */
        void offer(PathAgent path);

        /** Removes a path that is not to be used. */
        void withdraw(PathAgent path);

        /** Notes a failed login or a lost session. */
        void failed(Exception why);

        /** Returns the sessions of other usable paths. */
        List<PathSession> sessionsBeside(PathAgent path);

        /** Has every path check its access state. */
        void lookAtAccess();

        /** Asks the unit for its capacity by every path: an idle one has received no unit attention. */
        void askCapacity();

        /** Dispatches a change of a path, which may change which paths are usable. */
        void tell(PathEvent event);

        /** Dispatches an event that does not change which paths are usable. */
        void announce(Consumer<PathListener> event);
    }

    private final Owner owner;
    private final Initiator initiator;
    private final SessionOptions options;
    private final MultipathOptions rules;
    private final int index;
    private final Isid isid;
    private final Thread thread;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicLong completed = new AtomicLong();
    private volatile long serviceNanos;
    private final AtomicLong failures = new AtomicLong();
    private volatile State state = State.CONNECTING;
    private volatile TargetPortGroups.State access = TargetPortGroups.State.ACTIVE_OPTIMIZED;
    private volatile @Nullable PathSession session;
    private volatile boolean alarm;
    /** A request has failed since the unit was last checked. */
    private volatile boolean suspected;
    /** Another path is up, by which the last session may be ended. */
    private volatile boolean helped;
    private volatile boolean stopped;
    /** Confined to the path's thread. */
    private final Backoff backoff;
    private long usableNanos;
    private @Nullable StorageException trouble;
    /** The latest session, which the path ends by its next login. */
    private @Nullable PathSession last;
    /** The latest failure of a login or session. */
    private @Nullable Exception latest;
    private TargetAddress at;
    private boolean accessKnown;
    private String told = "";

    PathAgent(Owner owner, Initiator initiator, SessionOptions options,
            MultipathOptions rules, int index) {
        this.owner = owner;
        this.initiator = initiator;
        this.options = options;
        this.rules = rules;
        this.index = index;
        at = options.portal();
        isid = initiator.newIsid();
        backoff = new Backoff(rules.minPauseMs(), rules.maxPauseMs());
        thread = Thread.ofVirtual().name("lunar-path-" + index).unstarted(this::run);
    }

    void start() { thread.start(); }

    @Override
    public TargetAddress portal() { return options.portal(); }

    @Override
    public int index() { return index; }

    @Override
    public State state() { return state; }

    @Override
    public TargetPortGroups.State access() { return access; }

    @Override
    public int inFlight() { return inFlight.get(); }

    @Override
    public long serviceNanos() { return serviceNanos; }

    @Override
    public long completed() { return completed.get(); }

    @Override
    public long failures() { return failures.get(); }

    // --- requests; any thread ---

    /** Returns the session by which the unit is reached; null while the path is down. */
    @Nullable
    PathSession session() { return session; }

    /** Whether its first login is still in progress. */
    boolean isUntried() {
        return state == State.CONNECTING && failures.get() == 0;
    }

    void begun() { inFlight.incrementAndGet(); }

    void ended(long nanos, boolean well) {
        inFlight.decrementAndGet();
        if (well) {
            completed.incrementAndGet();
            long before = serviceNanos; // a lost update does no harm
            serviceNanos = before == 0 ? nanos : before + ((nanos - before) >> AVERAGE_SHIFT);
        }
    }

    /** Stops the use of the path until the unit is checked: a request has failed in a way that may be its fault. */
    void suspect(PathSession by) {
        if (by.equals(session)) {
            owner.withdraw(this);
            suspected = true;
            wake();
        }
    }

    /** Records that another path can be used, and perhaps end the session that this one has left at the target. */
    void help() {
        helped = true;
        LockSupport.unpark(thread);
    }

    /** Wakes the path's thread, since access states may have changed. */
    void wake() {
        alarm = true;
        LockSupport.unpark(thread);
    }

    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    void awaitStop() throws InterruptedException { thread.join(); }

    // --- its own thread ---

    private void run() {
        try {
            logInAgainAndAgain();
        } catch (Error e) { // it ends this path: no request shall wait for it
            var why = new IOException("path " + index + " of " + options.targetName()
                    + " has ended: " + e, e);
            failed(why);
            become(State.CLOSED, why);
            throw e;
        }
    }

    private void logInAgainAndAgain() {
        while (!stopped) {
            long waitMs = 0;
            usableNanos = 0;
            try (Session made = initiator.login(options, isid)) {
                made.onEnd(this::wake);
                arrivedAt(made.portal());
                reinstated(made);
                try {
                    serve(made);
                } finally {
                    waitMs = made.time2WaitMs();
                }
            } catch (IOException | RuntimeException e) {
                failed(e);
            }
            if (state == State.FOREIGN) {
                return;
            }
            pause(waitMs);
        }
        become(State.CLOSED, null);
    }

    private void arrivedAt(TargetAddress portal) {
        boolean moved = !portal.host().equals(at.host()) || portal.port() != at.port();
        at = portal;
        if (moved) {
            LOG.log(System.Logger.Level.INFO, "path {0} of {1} was redirected to {2}", index,
                    options.targetName(), portal);
            owner.announce(listener -> listener.redirected(this, portal));
        }
    }

    private void serve(Session made) throws IOException {
        long begunNanos = 0;
        try (LunDevice opened = made.open(rules.lun(), owner.writes())) {
            owner.admit(opened);
            owner.reopened(this, opened);
            opened.onAttention(this::heard);
            noticeAccess(state(opened));
            var served = PathSession.of(initiator.name(), options, isid, opened,
                    rules.paths().size() > 1 || rules.records().isPresent()
                            ? SessionFence.serverOf(made, opened)
                            : Optional.empty(),
                    owner.heldWrites(), owner.heldWrites().journal());
            last = served;
            session = served;
            owner.register(opened);
            begunNanos = System.nanoTime();
            while (!stopped) {
                alarm = false;
                if (!made.isOpen()) { // only now, else its end could be missed
                    break;
                }
                become(isActive() ? State.UP : State.PASSIVE, null);
                sleep(isActive() ? Long.MAX_VALUE : rules.minPauseMs());
                if (!stopped && made.isOpen() && !look(opened)) {
                    break;
                }
                if (suspected && made.isOpen()) { // the unit is there, and refuses requests
                    suspected = false;
                    LockSupport.parkNanos(this, 1_000_000L * rules.minPauseMs());
                }
            }
        } catch (ForeignUnitException e) {
            failed(e);
            become(State.FOREIGN, e);
            return;
        } finally {
            owner.withdraw(this);
            session = null;
            usableNanos = begunNanos == 0 ? 0 : System.nanoTime() - begunNanos;
        }
        if (!stopped) {
            throw new IOException("the session with " + options.targetName() + " at "
                    + options.portal() + " is lost");
        }
    }

    /**
     * Handles a login with the ISID of the previous session. In its portal group the login has ended that at the
     * target. In another one, to which the target may have redirected the path, it has not: no later login of this path
     * will, and writes to blocks that the session may still change would wait forever.
     */
    private void reinstated(Session made) {
        PathSession before = last;
        last = null;
        if (before != null && before.isReinstatedBy(made, isid)) {
            before.ended();
        } else if (before != null) {
            owner.heldWrites().abandon(before, made);
        }
        owner.heldWrites().reinstated(made, isid);
        if (before != null) {
            before.over();
        }
    }

    /**
     * Ends the last session at the target through another path, where it has unanswered writes: these are sent again by
     * other paths as soon as that is done, and need not wait until this path is back.
     */
    private void fence() {
        helped = false;
        PathSession stale = last;
        if (stale != null && stale.isInDoubt()
                && SessionFence.end(initiator, stale, owner.sessionsBeside(this), false)) {
            owner.heldWrites().ended(List.of(stale));
        }
    }

    /** Returns the last session of a closed device, where it is in doubt at the target and others have to end it. */
    List<PathSession> left() {
        PathSession before = last;
        if (before == null) {
            return List.of();
        }
        before.over();
        return before.isInDoubt() ? List.of(before) : List.of();
    }

    /** Checks whether the unit is still reached by this session, and updates the access state. */
    private boolean look(LunDevice opened) {
        try {
            if (!PortGroup.isThere(opened)) {
                return false;
            }
            if (noticeAccess(state(opened))) {
                owner.tell(new PathEvent(this, state, state, Optional.empty()));
            }
            return true;
        } catch (StorageException e) {
            trouble = e;
            return false;
        }
    }

    /** Takes an access state; returns whether it has changed. */
    private boolean noticeAccess(TargetPortGroups.State now) {
        TargetPortGroups.State before = access;
        access = now;
        boolean news = accessKnown && now != before;
        accessKnown = true;
        if (news) {
            owner.announce(listener -> listener.accessChanged(this, before, now));
        }
        return news;
    }

    private TargetPortGroups.State state(LunDevice opened) throws StorageException {
        return rules.asymmetric()
                ? PortGroup.state(opened)
                : TargetPortGroups.State.ACTIVE_OPTIMIZED;
    }

    private boolean isActive() {
        return switch (access) {
            case ACTIVE_OPTIMIZED, ACTIVE_NON_OPTIMIZED, LOGICAL_BLOCK_DEPENDENT -> true;
            case STANDBY, UNAVAILABLE, OFFLINE, TRANSITIONING -> false;
        };
    }

    /** Handles a unit attention; on an event loop's thread. */
    private void heard(AdditionalSense attention) {
        if (attention.equals(AdditionalSense.ASYMMETRIC_ACCESS_STATE_CHANGED)) {
            owner.lookAtAccess();
        } else if (attention.equals(AdditionalSense.CAPACITY_DATA_HAS_CHANGED)) {
            owner.askCapacity();
        }
    }

    private void failed(Exception e) {
        Exception why = trouble == null ? e : trouble;
        trouble = null;
        latest = why;
        owner.failed(why); // before the failure becomes visible
        owner.withdraw(this);
        State before = state;
        state = State.CONNECTING;
        failures.incrementAndGet(); // last, so that a reader of the new count also sees the new state
        String message = String.valueOf(why.getMessage());
        boolean news = owner.isOpen() && !message.equals(told); // the caller of open gets an exception
        LOG.log(news ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG,
                "path {0} of {1}: {2}", index, options.targetName(), message);
        if (news) {
            told = message;
        }
        owner.tell(new PathEvent(this, before, State.CONNECTING, Optional.of(why)));
    }

    private void become(State now, @Nullable Exception why) {
        State before = state;
        if (now == State.UP) {
            told = "";
            owner.offer(this);
        } else {
            owner.withdraw(this);
        }
        state = now; // last, because a path in state up accepts requests
        if (before != now || why != null) {
            owner.tell(new PathEvent(this, before, now, Optional.ofNullable(why)));
        }
    }

    /**
     * Waits before the next login: at least as long as the target requires, with backoff while sessions do not last.
     */
    private void pause(long waitMs) {
        if (stopped) {
            return;
        }
        long pauseMs = backoff.nextMs(usableNanos / 1_000_000);
        Exception why = latest;
        if (why instanceof LoginException refused && refused.isLasting()) {
            pauseMs = rules.maxPauseMs();
        }
        long jitterMs = ThreadLocalRandom.current().nextLong(pauseMs / 2 + 1);
        long pausedMs = Math.max(waitMs, pauseMs - jitterMs);
        if (why != null) {
            owner.announce(listener -> listener.retrying(this, pausedMs, why));
        }
        alarm = false;
        long nowNanos = System.nanoTime();
        long waitedNanos = nowNanos + 1_000_000 * waitMs;
        long untilNanos = nowNanos + 1_000_000 * pausedMs;
        park(waitedNanos); // until then the target wants neither a fencing login nor a new one (section 13.15)
        fence();
        while (!stopped && untilNanos - System.nanoTime() > 0) {
            LockSupport.parkNanos(this, untilNanos - System.nanoTime());
            if (helped) {
                fence();
            }
        }
        if (helped) {
            fence();
        }
    }

    private void park(long untilNanos) {
        while (!stopped && untilNanos - System.nanoTime() > 0) {
            LockSupport.parkNanos(this, untilNanos - System.nanoTime());
        }
    }

    /** Sleeps until the time is over, or there is something to do. */
    private void sleep(long ms) {
        long endNanos = ms == Long.MAX_VALUE ? 0 : System.nanoTime() + ms * 1_000_000;
        while (!stopped && !alarm) {
            if (endNanos == 0) {
                LockSupport.park(this);
            } else if (endNanos - System.nanoTime() > 0) {
                LockSupport.parkNanos(this, endNanos - System.nanoTime());
            } else {
                return;
            }
        }
    }

    @Override
    public String toString() {
        return "path " + index + " at " + options.portal() + ", " + state + ", " + access;
    }
}
