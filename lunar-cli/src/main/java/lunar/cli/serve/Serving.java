package lunar.cli.serve;

import lunar.cli.command.Console;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;

import java.io.IOException;
import java.net.BindException;
import java.util.List;
import java.util.Locale;
import lunar.server.InvalidPlanException;
import lunar.server.OpenTargetException;
import lunar.server.ServerChange;
import lunar.server.ServerListener;
import lunar.server.ServerPlan;
import lunar.server.StorageServer;
import org.jspecify.annotations.Nullable;

/** Starts and reloads servers for commands: what they say goes to the console, with the options that help. */
public final class Serving {
    private Serving() {}

    /** @throws Failure when the plan is wrong, or a portal cannot be listened on */
    public static StorageServer start(ServerPlan plan, Console console)
            throws IOException, Failure {
        return advised(() -> StorageServer.start(plan, listener(console)));
    }

    /** Returns what has changed, in lines for people. */
    public static List<String> reload(StorageServer server, ServerPlan plan)
            throws IOException, Failure {
        return Changes.lines(advised(() -> server.reload(plan)));
    }

    /** Writes warnings and changed sizes to the console. */
    static ServerListener listener(Console console) {
        return new ServerListener() {
            @Override
            public void warned(String message, @Nullable IOException cause) {
                console.remark(cause == null ? message : message + ": " + Errors.message(cause));
            }

            @Override
            public void resized(ServerChange change) {
                Changes.lines(change).forEach(console.out()::println);
            }
        };
    }

    private interface Step<T> {
        T run() throws IOException, InvalidPlanException, Failure;
    }

    private static <T> T advised(Step<T> step) throws IOException, Failure {
        try {
            return step.run();
        } catch (BindException e) {
            throw new Failure("cannot listen on "
                    + String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT)
                    + "; choose another with --portal HOST:PORT, where port 0 is a free one", e);
        } catch (OpenTargetException e) {
            throw new Failure("other machines can reach this portal of " + e.iqn()
                    + ": ask for a secret with --chap USER:@FILE, or let everybody in with"
                    + " --allow-anonymous", e);
        } catch (InvalidPlanException e) {
            throw new Failure(String.valueOf(e.getMessage()), e);
        }
    }
}
