package lunar.target.internal.session;

import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.session.CommandWindow;
import lunar.iscsi.session.ConnectionEvent;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.text.PeerText;
import lunar.scsi.target.InitiatorPort;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.ScsiTarget;
import lunar.target.ServerLimits;
import lunar.target.internal.task.ConnectionTasks;
import lunar.target.internal.task.SessionCounters;
import lunar.target.internal.task.SessionRates;
import lunar.target.internal.task.SessionTasks;
import lunar.target.internal.task.Task;
import lunar.target.internal.task.TaskSession;
import lunar.target.status.ConnectionStatus;
import lunar.target.status.SessionStatus;
import org.jspecify.annotations.Nullable;

/**
 * An iSCSI session, which is one I_T nexus (RFC 7143 section 4.4.1). Confined to the thread of one event loop, as all
 * its connections are; other threads reach it through {@link #loop}.
 */
public final class Session implements TaskSession {
    private static final long NOT_KEPT = Long.MAX_VALUE;

    private final LoginResult login;
    private final @Nullable TargetNode target;
    private final EventLoop loop;
    private final Origin origin;
    private final CommandWindow window;
    private final @Nullable Nexus nexus;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final SessionServer server;
    private final SessionTasks tasks;
    private final Map<Integer, FullFeature> connections = new HashMap<>();
    private final LostConnections lost = new LostConnections(this);
    private final SessionAudit audit;
    /** CIDs of {@link #connections}, for other threads. */
    private volatile Set<Integer> cids = Set.of();
    /** The status of {@link #connections}, by CID, for other threads. */
    private volatile List<ConnectionStatus> statuses = List.of();
    private volatile @Nullable Instant since;
    private final int maxTime2WaitSeconds;
    private volatile long keptSinceMs = NOT_KEPT;
    private volatile boolean begun;
    private volatile boolean over;
    /** Whether it is ending: it ends with its tasks. */
    private volatile boolean ending;
    private boolean replaced;

    /** @param origin the origin of the leading connection */
    Session(LoginResult login, @Nullable TargetNode target, EventLoop loop, int firstCmdSn,
            Origin origin, SessionServer server) {
        ServerLimits limits = server.limits();
        this.origin = origin;
        maxTime2WaitSeconds = server.maxTime2WaitSeconds();
        this.server = server;
        this.login = login;
        this.target = target;
        this.loop = loop;
        window = new CommandWindow(firstCmdSn, limits.commandsPerSession());
        nexus = target == null
                ? null
                : new Nexus(new InitiatorPort(login.initiatorName(), login.isid().value()),
                        PeerText.printable(login.initiatorName()), target.device(),
                        target.port(login.portalGroupTag().orElseThrow()), new Aborter(),
                        server.announcesResets());
        audit = new SessionAudit(login, loop);
        tasks = new SessionTasks(this, limits, server.buffers());
    }

    @Override
    public LoginResult login() { return login; }

    /** Returns the target; null in a discovery session. */
    @Nullable
    TargetNode target() { return target; }

    @Override
    public boolean isDiscovery() { return target == null; }

    @Override
    public Nexus nexus() { return Objects.requireNonNull(nexus); }

    @Override
    public ScsiTarget device() { return Objects.requireNonNull(target).device(); }

    @Override
    public EventLoop loop() { return loop; }

    /** Returns the origin of its leading connection. */
    Origin origin() { return origin; }

    @Override
    public CommandWindow window() { return window; }

    SessionTasks tasks() { return tasks; }

    /** Changes the limits of its commands. Any thread. */
    void limit(SessionRates rates) {
        tasks.limit(rates);
    }

    /**
     * Returns how long the tasks of a lost connection are kept for another: DefaultTime2Wait and DefaultTime2Retain
     * together; 0 where they are not kept (RFC 7143 sections 7.2.2 and 13.16).
     */
    long retainMs() {
        return recoveryLevel() < 2 || time2RetainSeconds() == 0
                ? 0
                : 1000L * (login.parameters().defaultTime2WaitSeconds() + time2RetainSeconds());
    }

    /**
     * Returns Time2Retain as it is reported to the initiator. The larger Time2Wait applies (section 13.15), so the
     * target cannot shorten it; but for an initiator that returns later than the server waits, nothing is kept.
     */
    int time2RetainSeconds() {
        return login.parameters().defaultTime2WaitSeconds() > maxTime2WaitSeconds
                ? 0
                : login.parameters().defaultTime2RetainSeconds();
    }

    /** Whether it has no connection and is kept until its initiator opens another one. Any thread. */
    public boolean isKept() {
        return keptSinceMs != NOT_KEPT;
    }

    /** Returns when it lost its last connection, by the clock of the loops; valid while it is kept. Any thread. */
    long keptSinceMs() {
        return keptSinceMs;
    }

    LostConnections lost() { return lost; }

    /** Whether another login has replaced this session before this one began. */
    boolean replaced() {
        return replaced;
    }

    // --- its connections, on the event loop's thread ---

    /**
     * Returns why the connection of a login may not join; empty if it may. The login must be of the same initiator port
     * and target, by the same portal group, and authenticated as the same CHAP user (RFC 7143 sections 4.4.3 and
     * 6.3.1). Any thread.
     */
    public Optional<LoginStatus> refusal(LoginResult by) {
        if (!isOfPort(by.initiatorName(), by.isid())
                || !login.targetName().equals(by.targetName())) {
            return Optional.of(LoginStatus.SESSION_DOES_NOT_EXIST);
        }
        if (!login.portalGroupTag().equals(by.portalGroupTag())) {
            return Optional.of(LoginStatus.CANNOT_INCLUDE_IN_SESSION);
        }
        return login.chapUser().equals(by.chapUser())
                ? refusal(by.cid())
                : Optional.of(LoginStatus.AUTHORIZATION_FAILURE);
    }

    /** Whether the session is of this initiator port. */
    boolean isOfPort(String initiatorName, Isid isid) {
        return login.initiatorName().equals(initiatorName) && login.isid().equals(isid);
    }

    /** Returns why a connection with this CID may not join now; empty if it may. Any thread. */
    public Optional<LoginStatus> refusal(int cid) {
        if (!begun || ending || over) {
            return Optional.of(LoginStatus.SESSION_DOES_NOT_EXIST);
        }
        Set<Integer> taken = cids;
        return !taken.contains(cid) && taken.size() >= login.parameters().maxConnections()
                ? Optional.of(LoginStatus.TOO_MANY_CONNECTIONS)
                : Optional.empty();
    }

    /**
     * Adds a connection, after {@link #vacate}; this logs out a lost connection with the same number.
     *
     * @param expStatSn ExpStatSN of its first Login Request, which continues the numbering of the old connection
     *        (section 11.12.9)
     */
    void join(FullFeature connection, int expStatSn) {
        if (begun) {
            audit.joined(connection.connection().peer(), connection.cid());
        } else {
            audit.began(connection.connection().peer(),
                    connection.connection().portal().listening().toString());
        }
        begun = true;
        FullFeature waiting = lost.waiting(connection.cid());
        if (waiting != null) {
            lost.logOut(waiting, expStatSn);
        }
        connections.put(connection.cid(), connection);
        keptSinceMs = NOT_KEPT;
        publish();
        if (since == null) {
            since = Instant.now(); // last: from now on operators see the session
        }
    }

    /** Publishes which connections are open to other threads. */
    private void publish() {
        cids = Set.copyOf(connections.keySet());
        statuses = connections.values().stream().map(FullFeature::status)
                .sorted(Comparator.comparingInt(ConnectionStatus::cid)).toList();
    }

    /**
     * Completes when no aborted command is left of connections with a CID. Runs on the event loop's thread. Bounded,
     * because a command that its device does not complete is fenced and detached.
     */
    CompletableFuture<Integer> awaitAborted(int cid) {
        return tasks.abort(task -> task.aborted() && task.connection().cid() == cid, _ -> {});
    }

    /**
     * Ends the connection with a CID that another connection takes over (connection reinstatement, RFC 7143 section
     * 6.3.4), and waits for its commands, unless they are kept to be reassigned. On the event loop's thread.
     */
    CompletableFuture<Integer> vacate(int cid) {
        FullFeature old = connections.get(cid);
        if (old != null) {
            old.connection().end("reinstated by a new login of its connection",
                    new ConnectionEvent.Dropped());
        }
        return awaitAborted(cid);
    }

    /** Returns the open connection with a CID, or null. */
    @Nullable
    FullFeature connection(int cid) { return connections.get(cid); }

    /** Moves a connection to the lost ones; its tasks are kept for a while. */
    void suspend(FullFeature connection) {
        audit.left(connection.connection().whyEnded());
        forget(connection);
        lost.add(connection);
        if (connections.isEmpty()) {
            keptSinceMs = loop.nowMs();
        }
    }

    private void forget(FullFeature connection) {
        connections.remove(connection.cid(), connection);
        publish();
        tasks.forgetHeld(connection.tasks());
        tasks.fence().look();
    }

    /** Removes a connection that has ended, and aborts the tasks that have their allegiance to it. */
    void leave(FullFeature connection) {
        audit.left(connection.connection().whyEnded());
        lost.remove(connection);
        forget(connection);
        var _ = tasks.abort(task -> task.connection().equals(connection.tasks()), _ -> {});
        endIfDone(); // otherwise the session ends with the last of these tasks
    }

    @Override
    public void endIfDone() {
        if (begun && !over && connections.isEmpty() && lost.isEmpty() && tasks.isEmpty()) {
            over = true;
            audit.ended();
            server.ended(this);
        }
    }

    /** Returns the open connections. */
    List<FullFeature> connections() {
        return List.copyOf(connections.values());
    }

    @Override
    public List<ConnectionTasks> taskConnections() {
        return connections.values().stream().map(FullFeature::tasks).toList();
    }

    /**
     * Ends the use of the nexus: cancels work without a task, such as background copies. Completes when no write of
     * that work can have an effect any longer. Any thread.
     */
    CompletableFuture<Void> loseNexus() {
        return target == null
                ? CompletableFuture.completedFuture(null)
                : target.device().lose(nexus());
    }

    /** Completes when the session has no connection, task and background copy left. */
    public CompletableFuture<Void> ended() {
        return ended;
    }

    /** Rejects further connections, including one that is waiting to join, because the session is about to end. */
    void takeNoMore() {
        ending = true;
    }

    /** Ends the session from any thread; see {@link #ended}. */
    void terminate(String why, ConnectionEvent event) {
        loop.execute(() -> {
            takeNoMore();
            if (!begun) {
                replaced = true; // it never begins: ends when its predecessor has ended
            }
            connections().forEach(connection -> connection.terminate(why, event));
            lost.all().forEach(connection -> connection.terminate(why, event));
        });
    }

    /**
     * Aborts tasks of this session, from any thread.
     *
     * @param marked receives the newly aborted tasks immediately, on the event loop's thread
     * @return how many were aborted, once the last of them has ended or was detached
     */
    CompletableFuture<Integer> abort(Predicate<Task> which, Consumer<List<Task>> marked) {
        var done = new CompletableFuture<Integer>();
        Runnable abort = () -> {
            var _ = tasks.abort(which, marked).thenAccept(done::complete);
        };
        if (loop.inLoop()) {
            abort.run(); // immediately, because a task management request does not cover later commands of its batch
        } else {
            loop.execute(abort);
        }
        return done;
    }

    /** Aborts the tasks on a unit for another nexus; reports it where negotiated (RFC 7143 section 4.2.3.4). */
    private CompletableFuture<Integer> abortForOthers(LogicalUnit unit, IntConsumer marked) {
        return abort(task -> task.server().equals(unit.server()), aborted -> {
            marked.accept(aborted.size());
            if (!aborted.isEmpty() && tasks.reportsAborts()) {
                connections().forEach(connection -> connection.announce(aborted.getFirst().lun(),
                        AsyncEvent.TASK_TERMINATION, 0, 0, 0));
            }
        });
    }

    /** Ends tasks of this session for other nexuses and for changes of the target. */
    private final class Aborter implements Nexus.Aborter {
        @Override
        public CompletableFuture<Integer> abort(LogicalUnit unit, IntConsumer marked) {
            return abortForOthers(unit, marked);
        }

        /** Marks and aborts in one step, because the unit may be mapped again before the event loop runs this. */
        @Override
        public CompletableFuture<Integer> withdraw(LogicalUnit unit) {
            var done = new CompletableFuture<Integer>();
            loop.execute(() -> {
                tasks.all().stream().filter(task -> task.server().equals(unit.server()))
                        .forEach(Task::withdraw);
                var _ = abortForOthers(unit, _ -> {}).thenAccept(done::complete);
            });
            return done;
        }
    }

    /** Asks the initiator to log out within some time, after which its connections are dropped. Any thread. */
    public void askForLogout(long withinMs) {
        loop.execute(() -> connections()
                .forEach(connection -> connection.connection().askForLogout(withinMs)));
    }

    /**
     * Asks the initiator to log out within some time, after which the session is dropped, even if it is kept without a
     * connection. Any thread.
     *
     * @param why the reason to log when it is dropped
     * @return completes when the session has ended
     */
    public CompletableFuture<Void> logOut(long withinMs, String why) {
        askForLogout(withinMs);
        // Not a delayed task, which would keep the session reachable after its end.
        var _ = ended.copy().orTimeout(withinMs, TimeUnit.MILLISECONDS)
                .exceptionally(_ -> {
                    drop(why);
                    return null;
                });
        return ended.copy();
    }

    /** Returns the state of the session for operators; empty if it has not begun. Any thread. */
    public Optional<SessionStatus> status() {
        Instant began = since;
        return began == null
                ? Optional.empty()
                : Optional.of(new SessionStatus(login.tsih(), login, began, statuses,
                        tasks.counters().total()));
    }

    /** Returns the counters of the session's commands. Any thread. */
    SessionCounters counters() {
        return tasks.counters();
    }

    /** Announces to the initiator that its connections are dropped, and drops them (AsyncEvent 3). Any thread. */
    public void drop(String why) {
        loop.execute(() -> {
            takeNoMore();
            if (!begun) {
                replaced = true;
            }
            connections().forEach(connection -> connection.drop(why));
            lost.all().forEach(connection -> connection.terminate(why,
                    new ConnectionEvent.SessionClosed()));
        });
    }

    @Override
    public String toString() {
        return PeerText.printable(login.initiatorName()) + " on "
                + login.targetName().orElse("discovery");
    }
}
