package lunar.cli;

import lunar.cli.admin.DrainCommand;
import lunar.cli.admin.LogoutCommand;
import lunar.cli.admin.LunCommand;
import lunar.cli.admin.LunsCommand;
import lunar.cli.admin.ReloadCommand;
import lunar.cli.admin.SessionsCommand;
import lunar.cli.admin.StatusCommand;
import lunar.cli.admin.TopCommand;
import lunar.cli.bench.BenchCommand;
import lunar.cli.browse.BrowseCommand;
import lunar.cli.command.Console;
import lunar.cli.command.Errors;
import lunar.cli.copy.CopyCommand;
import lunar.cli.demo.DemoCommand;
import lunar.cli.manual.ManualCommand;
import lunar.cli.osd.OsdCommand;
import lunar.cli.raid.RaidCommand;
import lunar.cli.rdma.RdmaCommand;
import lunar.cli.serve.ConfigCommand;
import lunar.cli.serve.DiscoverCommand;
import lunar.cli.serve.ServeCommand;

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
        return commandLine(console).execute(args);
    }

    static CommandLine commandLine(Console console) {
        var line = new CommandLine(new LunarCommand());
        line.addSubcommand(new ServeCommand(console));
        line.addSubcommand(new DiscoverCommand(console));
        line.addSubcommand(new InfoCommand(console));
        line.addSubcommand(new CopyCommand(console));
        line.addSubcommand(new BenchCommand(console));
        line.addSubcommand(new BrowseCommand(console));
        line.addSubcommand("raid", RaidCommand.line(console));
        line.addSubcommand("osd", OsdCommand.line(console));
        line.addSubcommand("rdma", RdmaCommand.line(console));
        line.addSubcommand(new StatusCommand(console));
        line.addSubcommand(new SessionsCommand(console));
        line.addSubcommand(new LunsCommand(console));
        line.addSubcommand(new TopCommand(console));
        line.addSubcommand(new LogoutCommand(console));
        line.addSubcommand("lun", LunCommand.line(console));
        line.addSubcommand(new DrainCommand(console));
        line.addSubcommand(new ReloadCommand(console));
        line.addSubcommand("config", ConfigCommand.line(console));
        line.addSubcommand("key", KeyCommand.line(console));
        line.addSubcommand(new AcceptLossCommand(console));
        line.addSubcommand(new DemoCommand(console));
        line.addSubcommand(new CommandLine.HelpCommand());
        line.addSubcommand(new CompletionCommand(console));
        line.addSubcommand(new ManualCommand(console));
        line.addSubcommand(new WarmUpCommand(console));
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
