package lunar.target;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import lunar.iscsi.CommandWindow;
import lunar.iscsi.ConnectionEvent;
import lunar.iscsi.LoginResult;
import lunar.iscsi.spi.EventLoop;
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
    private final @Nullable Nexus nexus;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private @Nullable FullFeature connection;
    private boolean replaced;

    Session(LoginResult login, @Nullable TargetNode target, EventLoop loop, int firstCmdSn,
            int commands) {
        this.login = login;
        this.target = target;
        this.loop = loop;
        window = new CommandWindow(firstCmdSn, commands);
        nexus = target == null
                ? null
                : new Nexus(login.initiatorName(), login.isid(), target.port(),
                        unit -> abort(task -> task.server.equals(unit.server())));
    }

    LoginResult login() { return login; }

    /** The target; null in a discovery session. */
    @Nullable
    TargetNode target() { return target; }

    /** The I_T nexus that the session is. Not in a discovery session. */
    Nexus nexus() {
        return Objects.requireNonNull(nexus);
    }

    EventLoop loop() { return loop; }

    CommandWindow window() { return window; }

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
     * @return how many were aborted, once the last of them has ended
     */
    CompletableFuture<Integer> abort(Predicate<Task> which) {
        var done = new CompletableFuture<Integer>();
        Runnable abort = () -> {
            FullFeature open = connection;
            if (open == null) {
                done.complete(0);
            } else {
                var _ = open.abort(which).thenAccept(done::complete);
            }
        };
        if (loop.inLoop()) {
            abort.run(); // at once: what the same batch brings after a task management request is not meant by it
        } else {
            loop.execute(abort);
        }
        return done;
    }

    @Override
    public String toString() {
        return login.initiatorName() + " on " + login.targetName().orElse("discovery");
    }
}
