package lunar.cli.serve;

import lunar.cli.command.Console;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;

import java.io.IOException;
import java.net.BindException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import lunar.admin.report.LunAnswer;
import lunar.server.ChangedLun;
import lunar.server.ContradictedChangeException;
import lunar.server.InvalidPlanException;
import lunar.server.LunRequest;
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
    /** The log of a running server. */
    static final System.Logger LOG = System.getLogger("lunar.server");

    /** Begins the lines of {@link #reload} that are warnings. */
    static final String WARNING = "warning: ";

    /** Collects the warnings of a reload on its thread. */
    private static final ThreadLocal<@Nullable List<String>> WARNINGS = new ThreadLocal<>();

    private Serving() {}

    /**
     * The parts of a plan that a config file has, where errors in them are mended.
     *
     * @param targets names of its targets
     * @param portals whether it has the portals
     */
    record FromFile(Set<String> targets, boolean portals) {
        /** All is on the command line. */
        static final FromFile NOTHING = new FromFile(Set.of(), false);
    }

    /** @throws Failure if the plan is wrong, or a portal cannot be listened on */
    public static StorageServer start(ServerPlan plan, Console console)
            throws IOException, Failure {
        return start(plan, console, FromFile.NOTHING);
    }

    static StorageServer start(ServerPlan plan, Console console, FromFile file)
            throws IOException, Failure {
        var listener = new Listener(console);
        StorageServer server = advised(() -> StorageServer.start(plan, listener), file);
        listener.isStarted = true;
        return server;
    }

    /** Returns what has changed, and the warnings of that, in lines for people. */
    public static List<String> reload(StorageServer server, ServerPlan plan)
            throws IOException, Failure {
        return reload(server, plan, FromFile.NOTHING);
    }

    static List<String> reload(StorageServer server, ServerPlan plan, FromFile file)
            throws IOException, Failure {
        return lines(() -> server.reload(plan), file);
    }

    /** Like {@link #reload}, but discards the changes of LUNs since the start. */
    static List<String> reloadDiscarding(StorageServer server, ServerPlan plan, FromFile file)
            throws IOException, Failure {
        return lines(() -> server.reloadDiscarding(plan), file);
    }

    private static List<String> lines(Step<ServerChange> step, FromFile file)
            throws IOException, Failure {
        List<String> warnings = collectWarnings();
        try {
            return lines(advised(step, file), warnings);
        } finally {
            WARNINGS.remove();
        }
    }

    /** Changes a LUN; returns what has changed, and the warnings of that. */
    static LunAnswer change(StorageServer server, LunRequest request, FromFile file)
            throws IOException, Failure {
        List<String> warnings = collectWarnings();
        try {
            ChangedLun lun = advised(() -> server.change(request), file);
            return new LunAnswer(lun.iqn(), lun.lun(), lines(lun.change(), warnings));
        } finally {
            WARNINGS.remove();
        }
    }

    private static List<String> collectWarnings() {
        var warnings = new ArrayList<String>();
        WARNINGS.set(warnings);
        return warnings;
    }

    private static List<String> lines(ServerChange change, List<String> warnings) {
        var lines = new ArrayList<>(ChangeReport.lines(change));
        lines.addAll(warnings);
        return lines;
    }

    /** Writes warnings to the console. */
    static ServerListener listener(Console console) {
        return new Listener(console);
    }

    /**
     * Writes changed sizes to the console, and warnings: those of the start to the console, as of any command, and
     * those of the running server to the log.
     */
    private static final class Listener implements ServerListener {
        private final Console console;
        private volatile boolean isStarted;

        Listener(Console console) { this.console = console; }

        @Override
        public void warned(String message, @Nullable IOException cause) {
            if (isStarted) {
                LOG.log(System.Logger.Level.WARNING, message, cause);
                List<String> warnings = WARNINGS.get();
                if (warnings != null) {
                    warnings.add(WARNING + line(message, cause));
                }
            } else {
                console.remark(line(message, cause));
            }
        }

        private static String line(String message, @Nullable IOException cause) {
            return cause == null ? message : message + ": " + Errors.message(cause);
        }

        @Override
        public void resized(ServerChange change) {
            ChangeReport.lines(change).forEach(console.out()::println);
        }
    }

    private interface Step<T> {
        T run() throws IOException, InvalidPlanException, Failure;
    }

    private static <T> T advised(Step<T> step, FromFile file) throws IOException, Failure {
        try {
            return step.run();
        } catch (BindException e) {
            throw new Failure("cannot listen on "
                    + String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT)
                    + (file.portals()
                            ? "; choose another address in 'portals' of the config file"
                            : "; choose another address with --portal HOST:PORT")
                    + ", where port 0 selects a free port", e);
        } catch (OpenTargetException e) {
            throw new Failure("other machines can reach this portal of " + e.iqn() + (file.targets()
                    .contains(e.iqn())
                            ? ": give the target a 'chap' in the config file, or set"
                                    + " 'allow-anonymous = true' there"
                            : ": require authentication with --chap USER:@FILE, or permit anonymous logins"
                                    + " with --allow-anonymous"),
                    e);
        } catch (ContradictedChangeException e) {
            throw new Failure(e.contradiction() + ": change the config file, or discard all such"
                    + " changes with 'lunar reload --discard'", e);
        } catch (InvalidPlanException e) {
            throw new Failure(String.valueOf(e.getMessage()), e);
        }
    }
}
