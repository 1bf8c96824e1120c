package lunar.target;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import lunar.iscsi.AsyncEvent;
import lunar.iscsi.CommandWindow;
import lunar.iscsi.ConnectionEvent;
import lunar.iscsi.LoginResult;
import lunar.iscsi.TaskReporting;
import lunar.iscsi.spi.EventLoop;
import lunar.target.device.LogicalUnit;
import lunar.target.device.Nexus;
import org.jspecify.annotations.Nullable;

/**
 * One session, which is one I_T nexus (RFC 7143 section 4.4.1). Belongs to the event loop of its connection;
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
    private @Nullable FullFeature connection;
    private boolean replaced;

    Session(LoginResult login, @Nullable TargetNode target, EventLoop loop, int firstCmdSn,
            ServerLimits limits) {
        this.login = login;
        this.target = target;
        this.loop = loop;
        window = new CommandWindow(firstCmdSn, limits.commandsPerSession());
        taskSets = new TaskSets(window, limits,
                target == null ? 0 : target.device().units().size());
        nexus = target == null
                ? null
                : new Nexus(login.initiatorName(), login.isid(), target.port(),
                        this::abortForOthers);
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

    /** Whether another login has taken the place of this session before it began. */
    boolean replaced() {
        return replaced;
    }

    void connection(FullFeature established) { connection = established; }

    /** Ends when the session has no connection and no task any more. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    /** Ends the session from any thread; see {@link #ended}. */
    void terminate(String why, ConnectionEvent event) {
        loop.execute(() -> {
            FullFeature open = connection;
            if (open == null) {
                replaced = true; // still waiting for its own predecessor: it never begins, and ends then
            } else {
                open.terminate(why, event);
            }
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
            FullFeature open = connection;
            if (open == null) {
                marked.accept(List.of());
                done.complete(0);
            } else {
                var _ = open.abort(which, marked).thenAccept(done::complete);
            }
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
        return abort(task -> task.server.equals(unit.server()), tasks -> {
            marked.accept(tasks.size());
            FullFeature open = connection;
            if (open != null && !tasks.isEmpty()
                    && login.parameters().taskReporting() == TaskReporting.FAST_ABORT) {
                open.announce(tasks.getFirst().lun, AsyncEvent.TASK_TERMINATION, 0, 0, 0);
            }
        });
    }

    /** Asks the initiator to log out within some time, after which the connection is dropped. Any thread. */
    void askForLogout(long withinMs) {
        loop.execute(() -> {
            FullFeature open = connection;
            if (open != null) {
                open.connection().askForLogout(withinMs);
            }
        });
    }

    /** Tells the initiator that its connections are dropped, and drops them (AsyncEvent 3). Any thread. */
    void drop(String why) {
        loop.execute(() -> {
            FullFeature open = connection;
            if (open == null) {
                replaced = true;
            } else {
                open.drop(why);
            }
        });
    }

    @Override
    public String toString() {
        return login.initiatorName() + " on " + login.targetName().orElse("discovery");
    }
}
