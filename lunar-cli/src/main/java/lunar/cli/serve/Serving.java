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

/**
 * Starts and reloads servers for commands: prints their messages to the console, with the options that fix an error.
 */
public final class Serving {
    private Serving() {}

    /** @throws Failure if the plan is wrong, or a portal cannot be listened on */
    public static StorageServer start(ServerPlan plan, Console console)
            throws IOException, Failure {
        return advised(() -> StorageServer.start(plan, listener(console)));
    }

    /** Returns what has changed, in lines for people. */
    public static List<String> reload(StorageServer server, ServerPlan plan)
            throws IOException, Failure {
        return ChangeReport.lines(advised(() -> server.reload(plan)));
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
                ChangeReport.lines(change).forEach(console.out()::println);
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
                    + "; choose another address with --portal HOST:PORT, where port 0 selects a free port",
                    e);
        } catch (OpenTargetException e) {
            throw new Failure("other machines can reach this portal of " + e.iqn()
                    + ": require authentication with --chap USER:@FILE, or permit anonymous logins with"
                    + " --allow-anonymous", e);
        } catch (InvalidPlanException e) {
            throw new Failure(String.valueOf(e.getMessage()), e);
        }
    }
}
