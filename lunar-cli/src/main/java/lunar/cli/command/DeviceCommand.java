package lunar.cli.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.util.concurrent.Callable;
import lunar.cli.log.LogConfigurator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Base class of the commands: help, output streams, log level. */
@Command(mixinStandardHelpOptions = true, versionProvider = Version.class, sortOptions = false)
public abstract class DeviceCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--verbose", description = "Log more, and show the cause of an error.")
    private boolean verbose;

    private final Console console;

    protected DeviceCommand(Console console) { this.console = console; }

    protected final Console console() { return console; }

    protected final boolean isVerbose() { return verbose; }

    /** The command line cannot be understood: exit status 2. */
    protected final ParameterException wrongUsage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    @Override
    public final Integer call() throws Exception {
        Logger root = LogConfigurator.root(); // set up before other threads log: SLF4J warns of events in that time
        if (verbose) {
            root.setLevel(Level.DEBUG);
        }
        return execute();
    }

    /** Suppresses warnings in the log, unless verbose. */
    protected final void logErrorsOnly() {
        if (!verbose) {
            log(Level.ERROR);
        }
    }

    /** Suppresses informational messages, which are for operators of a server. */
    protected final void logWarningsOnly() {
        if (!verbose) {
            log(Level.WARN);
        }
    }

    /** The result: all of it for machines, a line for people. */
    protected final void tell(boolean isJson, Object tree, String line) {
        console.out().println(isJson ? Json.text(tree) : line);
    }

    private static void log(Level level) { LogConfigurator.root().setLevel(level); }

    /** Does the work and returns the exit status. */
    protected abstract int execute() throws Exception;
}
