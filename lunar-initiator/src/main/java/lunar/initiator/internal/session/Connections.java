package lunar.initiator.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import lunar.initiator.SessionNotice;
import lunar.initiator.Timeouts;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.pdu.LogoutReason;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.LogoutResponseCode;
import lunar.iscsi.pdu.TargetPdu;
import lunar.iscsi.session.SessionAction;
import lunar.iscsi.session.SessionEvent;
import lunar.iscsi.session.SessionMachine;
import lunar.iscsi.session.SessionState;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.text.TargetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Manages the connections of a session: open and lost ones, and their recovery (RFC 7143 sections 6.3.4 and 7.2).
 * Confined to the event loop's thread.
 *
 * <p>A lost connection is first ended at the target: by a Logout on another connection, or, if there is none, by a
 * reinstating login, which requires ErrorRecoveryLevel 2. Then commands that the target had not received are
 * retransmitted on the other connection, and at level 2 received ones are reassigned; at lower levels they fail, and
 * their caller decides.
 */
final class Connections {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** In place of a CID. */
    private static final int ALL = -1;
    private static final long FIRST_PAUSE_MS = 100;

    /** Logs in a connection, which is passed to {@link #joined} before anything else is received by it. */
    @FunctionalInterface
    interface Joiner {
        void join(int cid, TargetAddress portal, int expStatSn) throws IOException;
    }

    /** A connection that was lost, until its tasks have been moved. */
    private static final class Lost {
        final Connection connection;
        final int expStatSn;
        final long untilMs;
        long notBeforeMs;
        boolean loggingOut;

        Lost(Connection connection, long notBeforeMs, long untilMs) {
            this.connection = connection;
            this.notBeforeMs = notBeforeMs;
            this.untilMs = untilMs;
            expStatSn = connection.expStatSn();
        }
    }

    /** Time2Wait and Time2Retain of a dropped connection. */
    private record Patience(int cid, long waitMs, long retainMs) {}

    private final EventLoop loop;
    private final Tasks tasks;
    private final Allegiance allegiance;
    private final PendingRequests pendingRequests;
    private final LoginResult login;
    private final Timeouts timeouts;
    private final String target;
    private final List<TargetAddress> places;
    private final Joiner joiner;
    private final Consumer<SessionNotice> listener;
    private final Reassignment reassignment;
    private final List<FullFeature> open = new ArrayList<>();
    private final List<Lost> lost = new ArrayList<>();
    private final Set<Integer> joining = new HashSet<>();
    private final List<Thread> joiners = new ArrayList<>();
    private final List<Patience> patience = new ArrayList<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private SessionState state = SessionState.LOGGED_IN;
    private boolean closing;
    private boolean loggingOut;
    /** The target has answered that the session is closed. */
    private boolean loggedOut;
    private @Nullable IOException cause;
    private volatile boolean isOver;
    private volatile long waitMs;

    Connections(EventLoop loop, Tasks tasks, Allegiance allegiance, PendingRequests pendingRequests,
            LoginResult login,
            Timeouts timeouts, String target, List<TargetAddress> places, Joiner joiner,
            Consumer<SessionNotice> listener) {
        this.loop = loop;
        this.tasks = tasks;
        this.allegiance = allegiance;
        this.pendingRequests = pendingRequests;
        this.login = login;
        this.timeouts = timeouts;
        this.target = target;
        this.places = places;
        this.joiner = joiner;
        this.listener = listener;
        waitMs = 1000L * login.parameters().defaultTime2WaitSeconds();
        reassignment = new Reassignment(loop, tasks, allegiance, pendingRequests, timeouts, target,
                this::end);
    }

    private boolean recovers() { return login.parameters().errorRecoveryLevel() == 2; }

    /** Whether the session has ended; any thread may ask. */
    boolean isOver() { return isOver; }

    /** Returns a latch that opens when every connection and every command has ended; any thread may wait. */
    CountDownLatch ended() {
        return ended;
    }

    /** Returns a future that completes when every connection and every command has ended. */
    CompletableFuture<Void> over() {
        return over;
    }

    /** Returns how long the target requests to wait before the next login. May be called by any thread. */
    long waitMs() {
        return waitMs;
    }

    /** Returns how often deadlines are checked: an eighth of the shortest, so that none is missed by much. */
    static int tickMs(Timeouts timeouts) {
        int shortest = Math.min(Math.min(timeouts.commandMs(), timeouts.abortMs()),
                Math.min(timeouts.logoutMs(), timeouts.keepAliveMs()));
        return Math.clamp(shortest / 8, 5, 1_000);
    }

    void tick(long nowMs, int keepAliveMs) {
        if (!loggingOut) {
            List.copyOf(open).forEach(each -> each.tick(nowMs, keepAliveMs));
        }
    }

    // --- connections that come ---

    /** Begins with the first connection of the session. */
    void begin(FullFeature first) {
        open.add(first);
        tasks.attach(first.connection());
    }

    /** Adds a connection that has logged in to the session, in the place of a lost one or as a further one. */
    void joined(FullFeature made) {
        Connection connection = made.connection();
        boolean _ = joining.remove(connection.cid());
        if (closing || isOver) {
            connection.end(new IOException("the session is closed"));
            return;
        }
        open.add(made);
        tasks.attach(connection);
        happened(new SessionEvent.LoginSucceeded());
        LOG.log(System.Logger.Level.INFO, "{0}: connection {1} at {2} has joined the session",
                target, connection.cid(), connection.portal());
        listener.accept(new SessionNotice.ConnectionJoined(connection.cid(), connection.portal()));
        for (Lost each : List.copyOf(lost)) {
            if (each.connection.cid() == connection.cid()) {
                move(each, connection, recovers()); // its login has ended the lost one (section 6.3.4)
            } else if (!each.loggingOut) {
                logOut(each);
            }
        }
        tasks.startWaiting();
    }

    /** Logs in a further connection, and keeps trying; any thread. */
    void add(int cid, TargetAddress portal) {
        loop.execute(() -> join(cid, portal, 0, FIRST_PAUSE_MS, Long.MAX_VALUE));
    }

    /** Starts logins for a CID, unless they are in progress: two logins for one CID would end each other. */
    private void join(int cid, TargetAddress portal, int expStatSn, long waitMs, long untilMs) {
        if (joining.add(cid)) {
            joiners.removeIf(each -> !each.isAlive());
            joiners.add(Thread.ofVirtual().name("lunar-connection-" + cid)
                    .start(() -> keepJoining(cid, portal, expStatSn, waitMs, untilMs)));
        }
    }

    /** Tries logins until one succeeds; on a thread of its own. */
    private void keepJoining(int cid, TargetAddress portal, int expStatSn, long waitMs,
            long untilMs) {
        long pauseMs = waitMs;
        var backoff = new JoinBackoff();
        TargetAddress at = portal;
        try {
            while (!isOver) {
                Thread.sleep(pauseMs);
                try {
                    if (!isOver) {
                        joiner.join(cid, at, expStatSn);
                    }
                    return;
                } catch (IOException e) {
                    LOG.log(System.Logger.Level.DEBUG, "connection {0} of {1}: {2}", cid, target,
                            e.getMessage());
                    pauseMs = backoff.afterMs(e);
                    if (pauseMs == JoinBackoff.NEVER || loop.nowMs() + pauseMs > untilMs) {
                        loop.execute(() -> gaveUp(cid, e));
                        return;
                    }
                    at = places.get((places.indexOf(at) + 1) % places.size());
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void gaveUp(int cid, IOException why) {
        boolean _ = joining.remove(cid);
        if (isOver) {
            return;
        }
        if (!open.isEmpty()) {
            LOG.log(System.Logger.Level.WARNING, "{0}: connection {1} is not retried in this"
                    + " session, which continues with {2}: {3}", target, cid, open.size(),
                    why.getMessage());
        } else {
            LOG.log(System.Logger.Level.WARNING,
                    "{0}: connection {1} cannot be re-established: {2}",
                    target, cid, why.getMessage());
            happened(new SessionEvent.TimedOut());
            end(why);
        }
    }

    // --- connections that go ---

    /** Handles the end of a connection. */
    void closed(FullFeature gone, @Nullable IOException why) {
        Connection connection = gone.connection();
        open.remove(gone);
        tasks.detach(connection);
        IOException reason = why == null ? new IOException("the session is closed") : why;
        pendingRequests.lost(connection, reason);
        if (closing || loggingOut) {
            if (cause == null && !loggingOut) {
                cause = why;
            }
            if (open.isEmpty()) {
                finish(cause);
            }
            return;
        }
        if (connection.draining && tasks.isIdle(connection)) {
            rejoin(connection); // it was logged out on request, and has no commands left
            return;
        }
        Patience asked = patience(connection.cid());
        patience.remove(asked);
        long nowMs = loop.nowMs();
        lost.add(new Lost(connection, nowMs + asked.waitMs(),
                nowMs + asked.waitMs() + asked.retainMs()));
        listener.accept(new SessionNotice.ConnectionLost(connection.cid(), reason));
        happened(new SessionEvent.ConnectionLost(open.size()));
        if (!open.isEmpty()) {
            LOG.log(System.Logger.Level.WARNING, "{0}: connection {1} is lost, {2} left: {3}",
                    target, connection.cid(), open.size(), reason.getMessage());
            List.copyOf(lost).stream().filter(each -> !each.loggingOut).forEach(this::logOut);
        } else if (recovers()) {
            LOG.log(System.Logger.Level.WARNING, "{0}: connection {1} is lost: {2}", target,
                    connection.cid(), reason.getMessage());
            reinstate();
        } else {
            finish(reason);
        }
    }

    private Patience patience(int cid) {
        var agreed = login.parameters();
        return patience.stream().filter(each -> each.cid() == cid || each.cid() == ALL)
                .findFirst().orElse(new Patience(cid, 1000L * agreed.defaultTime2WaitSeconds(),
                        1000L * agreed.defaultTime2RetainSeconds()));
    }

    /**
     * Handles the message that the target drops a connection and requests a wait. It may refer to a connection that was
     * lost and replaced before the message arrived, as with LIO; therefore the replacement is only pinged.
     */
    void dropped(int cid, int waitSeconds, int retainSeconds) {
        be(new Patience(cid, 1000L * waitSeconds, 1000L * retainSeconds));
        open.stream().filter(each -> each.connection().cid() == cid)
                .forEach(FullFeature::ping);
    }

    /** Handles the message that the target drops the session and asks to wait. */
    void allDropped(int waitSeconds, int retainSeconds, String why) {
        be(new Patience(ALL, 1000L * waitSeconds, 1000L * retainSeconds));
        List.copyOf(open).forEach(each -> each.connection().end(new IOException(why)));
    }

    private void be(Patience asked) {
        waitMs = asked.waitMs();
        patience.removeIf(each -> each.cid() == asked.cid());
        patience.add(asked);
    }

    /** Without a connection left, logs in in the place of a lost one, within the negotiated time. */
    private void reinstate() {
        Lost one = lost.stream().min(Comparator.comparingLong(each -> each.notBeforeMs))
                .orElseThrow();
        long waitMs = Math.max(0, one.notBeforeMs - loop.nowMs());
        join(one.connection.cid(), one.connection.portal(), one.expStatSn, waitMs, one.untilMs);
    }

    private void rejoin(Connection gone) {
        long waitMs = FIRST_PAUSE_MS
                + (recovers() ? 0 : 1000L * login.parameters().defaultTime2WaitSeconds());
        join(gone.cid(), gone.portal(), 0, waitMs, Long.MAX_VALUE);
    }

    /** Has the target end a lost connection, over another one (sections 7.2.2 and 11.14). */
    private void logOut(Lost one) {
        if (open.isEmpty()) {
            return; // the end of the last connection continues with it
        }
        Connection by = open.getFirst().connection();
        int cid = one.connection.cid();
        one.loggingOut = true;
        pendingRequests.ask(new PendingRequest(by, "logout of connection " + cid,
                loop.nowMs() + timeouts.logoutMs()) {
            @Override
            boolean answered(TargetPdu pdu, MemorySegment data) {
                int code = pdu instanceof LogoutResponse answer ? answer.response() : -1;
                if (code == LogoutResponseCode.SUCCESS.code()
                        || code == LogoutResponseCode.CID_NOT_FOUND.code()) {
                    boolean kept = recovers() && code == LogoutResponseCode.SUCCESS.code();
                    long waitMs = kept ? 1000L * ((LogoutResponse) pdu).time2WaitSeconds() : 0;
                    later(waitMs, () -> loggedOut(one, kept));
                } else {
                    end(new IOException(target + " does not end connection " + cid + ": "
                            + LogoutResponseCode.describe(code)));
                }
                return true;
            }

            @Override
            void failed(IOException why) {
                one.loggingOut = false;
                by.end(why);
            }
        }, itt -> new LogoutRequest(true, recovers()
                ? LogoutReason.REMOVE_FOR_RECOVERY
                : LogoutReason.CLOSE_CONNECTION, itt, cid, tasks.numbering().current(),
                one.expStatSn), // of the connection that is to end (section 11.14.4)
                MemorySegment.NULL);
    }

    private void later(long delayMs, Runnable what) {
        if (delayMs == 0) {
            what.run();
        } else {
            loop.schedule(what, delayMs);
        }
    }

    private void loggedOut(Lost one, boolean kept) {
        one.loggingOut = false;
        if (open.isEmpty() || !lost.contains(one)) {
            return;
        }
        move(one, open.getFirst().connection(), kept);
        rejoin(one.connection);
    }

    private void move(Lost one, Connection to, boolean kept) {
        lost.remove(one);
        Allegiance.Moved moved = allegiance.move(one.connection, to, kept);
        moved.toReassign().forEach(command -> reassignment.reassign(command, to));
        LOG.log(System.Logger.Level.INFO,
                "{0}: connection {1} was lost: {2} commands retransmitted, {3} reassigned, {4} ended",
                target, one.connection.cid(), moved.retried(), moved.toReassign().size(),
                moved.ended());
        listener.accept(new SessionNotice.TasksMoved(one.connection.cid(), moved.retried(),
                moved.toReassign().size(), moved.ended()));
    }

    private void happened(SessionEvent event) {
        try {
            var step = SessionMachine.step(state, event);
            state = step.state();
            if (step.actions().contains(new SessionAction.Resume())) {
                LOG.log(System.Logger.Level.INFO, "{0}: the session continues", target);
            }
        } catch (ProtocolException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", target, e.getMessage());
        }
    }

    // --- the end ---

    /**
     * Handles the target's request for a logout: commands at the target may end while there is time; half of the time
     * is left for the logout.
     */
    void leave(Connection by, int seconds) {
        if (open.size() > 1) {
            tasks.drain(by);
        } else {
            tasks.refuse(target + " requested a logout", null);
        }
        drain(by, loop.nowMs() + Math.max(1, seconds * 500L));
    }

    private void drain(Connection by, long untilMs) {
        if (isOver || loggingOut || !by.isOpen()) {
            return;
        }
        if (!tasks.isIdle(by) && loop.nowMs() < untilMs) {
            loop.schedule(() -> drain(by, untilMs), tickMs(timeouts));
        } else if (by.draining && open.size() > 1) {
            logOutItself(by);
        } else {
            logOut();
        }
    }

    private void logOutItself(Connection by) {
        pendingRequests.ask(new PendingRequest(by, "logout", loop.nowMs() + timeouts.logoutMs()) {
            @Override
            boolean answered(TargetPdu pdu, MemorySegment data) {
                by.close();
                return true;
            }

            @Override
            void failed(IOException why) { by.end(why); }
        }, itt -> new LogoutRequest(true, LogoutReason.CLOSE_CONNECTION, itt, by.cid(),
                tasks.numbering().current(), by.expStatSn()), MemorySegment.NULL);
    }

    /** Ends the session in order: logout, then the connections. */
    void logOut() {
        if (loggingOut || isOver) {
            return;
        }
        loggingOut = true;
        if (open.isEmpty()) {
            closing = true;
            finish(cause);
            return;
        }
        Connection by = open.getFirst().connection();
        pendingRequests.ask(new PendingRequest(by, "logout", loop.nowMs() + timeouts.logoutMs()) {
            @Override
            boolean answered(TargetPdu pdu, MemorySegment data) {
                loggedOut = pdu instanceof LogoutResponse done
                        && done.response() == LogoutResponseCode.SUCCESS.code();
                if (pdu instanceof LogoutResponse answer && answer.response() != 0) {
                    LOG.log(System.Logger.Level.WARNING, "logout from {0} failed: {1}", target,
                            LogoutResponseCode.describe(answer.response()));
                }
                closeAll();
                return true;
            }

            @Override
            void failed(IOException why) {
                LOG.log(System.Logger.Level.WARNING, "logout: {0}", why.getMessage());
                closing = true; // without an answer nothing ends in order
                List.copyOf(open).forEach(each -> each.connection().end(why));
            }
        }, itt -> new LogoutRequest(true, LogoutReason.CLOSE_SESSION, itt, 0,
                tasks.numbering().current(), by.expStatSn()), MemorySegment.NULL);
    }

    private void closeAll() {
        closing = true;
        open.forEach(each -> each.connection().close());
    }

    /** Ends the session for a reason. */
    private void end(IOException why) {
        closing = true;
        if (cause == null) {
            cause = why;
        }
        if (open.isEmpty()) {
            finish(cause);
        } else {
            open.forEach(each -> each.connection().end(why));
        }
    }

    private void finish(@Nullable IOException why) {
        if (isOver) {
            return;
        }
        isOver = true;
        closing = true;
        lost.clear();
        joiners.forEach(Thread::interrupt); // they may have minutes to wait
        joiners.clear();
        try {
            tasks.lost(why == null ? "the session is closed" : String.valueOf(why.getMessage()),
                    why, loggedOut);
            listener.accept(new SessionNotice.Ended(Optional.ofNullable(why)));
        } finally {
            ended.countDown();
            over.complete(null);
        }
    }
}
