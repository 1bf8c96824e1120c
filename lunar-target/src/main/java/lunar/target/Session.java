package lunar.target;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import lunar.iscsi.AsyncEvent;
import lunar.iscsi.CommandWindow;
import lunar.iscsi.ConnectionEvent;
import lunar.iscsi.LoginResult;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.TaskReporting;
import lunar.iscsi.spi.EventLoop;
import lunar.target.device.LogicalUnit;
import lunar.target.device.Nexus;
import org.jspecify.annotations.Nullable;

/**
 * One session, which is one I_T nexus (RFC 7143 section 4.4.1). Belongs to one event loop, as all its connections do;
 * other threads talk to it through {@link #loop}.
 */
final class Session {
    private final LoginResult login;
    private final @Nullable TargetNode target;
    private final EventLoop loop;
    private final CommandWindow window;
    private final TaskSets taskSets;
    private final @Nullable Nexus nexus;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final TargetServer server;
    private final SessionTasks tasks;
    private final Map<Integer, FullFeature> connections = new HashMap<>();
    private final LostConnections lost = new LostConnections(this);
    private final ResponseFence fence;
    /** Their numbers, for other threads. */
    private volatile Set<Integer> cids = Set.of();
    private volatile boolean begun;
    private volatile boolean over;
    private boolean replaced;

    Session(LoginResult login, @Nullable TargetNode target, EventLoop loop, int firstCmdSn,
            TargetServer server) {
        ServerLimits limits = server.limits();
        this.server = server;
        this.login = login;
        this.target = target;
        this.loop = loop;
        window = new CommandWindow(firstCmdSn, limits.commandsPerSession());
        taskSets = new TaskSets(window, limits,
                target == null ? 0 : target.device().units().size());
        nexus = target == null
                ? null
                : new Nexus(login.initiatorName(), login.isid(),
                        target.port(login.portalGroupTag()), new Aborter(),
                        server.announcesResets());
        tasks = new SessionTasks(this, server);
        fence = new ResponseFence(this, limits.abortTimeoutMs());
    }

    LoginResult login() { return login; }

    /** The target; null in a discovery session. */
    @Nullable
    TargetNode target() { return target; }

    /** The I_T nexus that the session is. Not in a discovery session. */
    Nexus nexus() {
        return Objects.requireNonNull(nexus);
    }

    /** Whether the session speaks at least this iSCSIProtocolLevel (RFC 7144 section 7.1.1). */
    boolean hasLevel(int level) {
        return login.parameters().protocolLevel() >= level;
    }

    EventLoop loop() { return loop; }

    CommandWindow window() { return window; }

    TaskSets taskSets() { return taskSets; }

    SessionTasks tasks() { return tasks; }

    /** ErrorRecoveryLevel (RFC 7143 section 13.20). */
    int recoveryLevel() {
        return login.parameters().errorRecoveryLevel();
    }

    /**
     * How long what a lost connection leaves is kept for another: DefaultTime2Wait and DefaultTime2Retain together; 0
     * where it is not (RFC 7143 sections 7.2.2 and 13.16).
     */
    long retainMs() {
        int retainSeconds = login.parameters().defaultTime2RetainSeconds();
        return recoveryLevel() < 2 || retainSeconds == 0
                ? 0
                : 1000L * (login.parameters().defaultTime2WaitSeconds() + retainSeconds);
    }

    LostConnections lost() { return lost; }

    ResponseFence fence() { return fence; }

    /** Whether another login has taken the place of this session before it began. */
    boolean replaced() {
        return replaced;
    }

    // --- its connections, on the loop ---

    /** Why a connection of this number may not join now; empty where it may. Any thread. */
    Optional<LoginStatus> refusal(int cid) {
        if (!begun || over) {
            return Optional.of(LoginStatus.SESSION_DOES_NOT_EXIST);
        }
        Set<Integer> taken = cids;
        return !taken.contains(cid) && taken.size() >= login.parameters().maxConnections()
                ? Optional.of(LoginStatus.TOO_MANY_CONNECTIONS)
                : Optional.empty();
    }

    /**
     * A connection joins; it takes the place of one with its number, which is logged out by that (connection
     * reinstatement, section 6.3.4).
     *
     * @param expStatSn ExpStatSN of its first Login Request, which is that of the old connection (section 11.12.9)
     */
    void join(FullFeature connection, int expStatSn) {
        begun = true;
        FullFeature old = connections.get(connection.cid());
        if (old != null) {
            old.connection().end("reinstated by a new login of its connection",
                    new ConnectionEvent.Dropped());
        }
        FullFeature waiting = lost.waiting(connection.cid());
        if (waiting != null) {
            lost.logOut(waiting, expStatSn);
        }
        connections.put(connection.cid(), connection);
        cids = Set.copyOf(connections.keySet());
    }

    /** The open connection of a number, or null. */
    @Nullable
    FullFeature connection(int cid) { return connections.get(cid); }

    /** A connection is lost: its tasks are kept for a while. */
    void suspend(FullFeature connection) {
        forget(connection);
        lost.add(connection);
    }

    private void forget(FullFeature connection) {
        connections.remove(connection.cid(), connection);
        cids = Set.copyOf(connections.keySet());
        tasks.forgetHeld(connection);
        fence.look();
    }

    /** A connection is over: aborts the tasks that have their allegiance to it. */
    void leave(FullFeature connection) {
        lost.remove(connection);
        forget(connection);
        var _ = tasks.abort(task -> task.connection().equals(connection), _ -> {});
        endIfDone(); // or the last of them to end ends the session
    }

    /** The session ends when it has no connection, no lost one either, and no task. */
    void endIfDone() {
        if (begun && !over && connections.isEmpty() && lost.isEmpty() && tasks.isEmpty()) {
            over = true;
            server.ended(this);
        }
    }

    /** Those that are open. */
    List<FullFeature> connections() {
        return List.copyOf(connections.values());
    }

    /** Ends when the session has no connection and no task any more. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    /** Ends the session from any thread; see {@link #ended}. */
    void terminate(String why, ConnectionEvent event) {
        loop.execute(() -> {
            if (!begun) {
                replaced = true; // still waiting for its own predecessor: it never begins, and ends then
            }
            connections().forEach(connection -> connection.terminate(why, event));
            lost.all().forEach(connection -> connection.terminate(why, event));
        });
    }

    /**
     * Aborts tasks of this session, from any thread.
     *
     * @param marked told on the loop which they are, at once
     * @return how many were aborted, once the last of them has ended or was left behind
     */
    CompletableFuture<Integer> abort(Predicate<Task> which, Consumer<List<Task>> marked) {
        var done = new CompletableFuture<Integer>();
        Runnable abort = () -> {
            var _ = tasks.abort(which, marked).thenAccept(done::complete);
        };
        if (loop.inLoop()) {
            abort.run(); // at once: what the same batch brings after a task management request is not meant by it
        } else {
            loop.execute(abort);
        }
        return done;
    }

    /** Somebody else ends the tasks on a unit; an initiator that wants to know is told (RFC 7143 section 4.2.3.4). */
    private CompletableFuture<Integer> abortForOthers(LogicalUnit unit, IntConsumer marked) {
        return abort(task -> task.server.equals(unit.server()), aborted -> {
            marked.accept(aborted.size());
            if (!aborted.isEmpty()
                    && login.parameters().taskReporting() == TaskReporting.FAST_ABORT) {
                connections().forEach(connection -> connection.announce(aborted.getFirst().lun,
                        AsyncEvent.TASK_TERMINATION, 0, 0, 0));
            }
        });
    }

    /** How others end tasks of this session. */
    private final class Aborter implements Nexus.Aborter {
        @Override
        public CompletableFuture<Integer> abort(LogicalUnit unit, IntConsumer marked) {
            return abortForOthers(unit, marked);
        }

        /** In one step, for the unit may be back before this is the loop's turn. */
        @Override
        public CompletableFuture<Integer> withdraw(LogicalUnit unit) {
            var done = new CompletableFuture<Integer>();
            loop.execute(() -> {
                tasks.all().stream().filter(task -> task.server.equals(unit.server()))
                        .forEach(Task::withdraw);
                var _ = abortForOthers(unit, _ -> {}).thenAccept(done::complete);
            });
            return done;
        }
    }

    /** Asks the initiator to log out within some time, after which the connection is dropped. Any thread. */
    void askForLogout(long withinMs) {
        loop.execute(() -> connections()
                .forEach(connection -> connection.connection().askForLogout(withinMs)));
    }

    /** Tells the initiator that its connections are dropped, and drops them (AsyncEvent 3). Any thread. */
    void drop(String why) {
        loop.execute(() -> {
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
        return login.initiatorName() + " on " + login.targetName().orElse("discovery");
    }
}
