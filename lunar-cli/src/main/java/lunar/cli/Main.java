package lunar.cli;

import lunar.cli.command.Console;
import lunar.cli.command.Errors;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;

/** The {@code lunar} command. */
public final class Main {
    /** Examples stay in one line, so that they can be copied. */
    private static final int HELP_WIDTH = 112;

    private Main() {}

    /** Runs a command and ends the JVM with its exit status. */
    public static void main(String[] args) {
        System.exit(run(args, System.out, System.err));
    }

    /**
     * Runs a command.
     *
     * @param out where results go
     * @param err where errors go, one line each
     * @return exit status: 0 success, 1 failure, 2 wrong command line
     */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        var console = new Console(writer(out), writer(err), out, out.equals(System.out));
        return commandLine(console, args).execute(args);
    }

    /** Returns {@code lunar} with the command that the first argument names, or else with all commands. */
    static CommandLine commandLine(Console console, String... args) {
        var line = new CommandLine(new LunarCommand());
        Commands.add(line, console, args);
        line.setOut(console.out()).setErr(console.err());
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setUsageHelpWidth(HELP_WIDTH);
        line.setParameterExceptionHandler(Errors::wrongUsage);
        line.setExecutionExceptionHandler(Errors::failed);
        return line;
    }

    private static PrintWriter writer(PrintStream stream) {
        return new PrintWriter(stream, true, StandardCharsets.UTF_8);
    }
}
