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
import lunar.cli.copy.CopyCommand;
import lunar.cli.demo.DemoCommand;
import lunar.cli.manual.ManualCommand;
import lunar.cli.osd.OsdCommand;
import lunar.cli.raid.RaidCommand;
import lunar.cli.rdma.RdmaCommand;
import lunar.cli.serve.ConfigCommand;
import lunar.cli.serve.DiscoverCommand;
import lunar.cli.serve.ServeCommand;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine;

/**
 * The subcommands of {@code lunar}. A command line gets the one that it names, or all where it names none: the
 * reflection on the options of all of them takes a large part of the start of a server.
 */
final class Commands {
    /** In the order of the help. */
    private static final Map<String, Function<Console, CommandLine>> BY_NAME = byName();

    private Commands() {}

    private static Map<String, Function<Console, CommandLine>> byName() {
        var all = new LinkedHashMap<String, Function<Console, CommandLine>>();
        all.put("serve", console -> new CommandLine(new ServeCommand(console)));
        all.put("discover", console -> new CommandLine(new DiscoverCommand(console)));
        all.put("info", console -> new CommandLine(new InfoCommand(console)));
        all.put("copy", console -> new CommandLine(new CopyCommand(console)));
        all.put("bench", console -> new CommandLine(new BenchCommand(console)));
        all.put("browse", console -> new CommandLine(new BrowseCommand(console)));
        all.put("raid", RaidCommand::line);
        all.put("osd", OsdCommand::line);
        all.put("rdma", RdmaCommand::line);
        all.put("status", console -> new CommandLine(new StatusCommand(console)));
        all.put("sessions", console -> new CommandLine(new SessionsCommand(console)));
        all.put("luns", console -> new CommandLine(new LunsCommand(console)));
        all.put("top", console -> new CommandLine(new TopCommand(console)));
        all.put("logout", console -> new CommandLine(new LogoutCommand(console)));
        all.put("lun", LunCommand::line);
        all.put("drain", console -> new CommandLine(new DrainCommand(console)));
        all.put("reload", console -> new CommandLine(new ReloadCommand(console)));
        all.put("config", ConfigCommand::line);
        all.put("key", KeyCommand::line);
        all.put("accept-loss", console -> new CommandLine(new AcceptLossCommand(console)));
        all.put("demo", console -> new CommandLine(new DemoCommand(console)));
        all.put("warm-up", console -> new CommandLine(new WarmUpCommand(console)));
        return all;
    }

    /** Adds the command that the first argument names, or else all commands. */
    static void add(CommandLine lunar, Console console, String... args) {
        var named = args.length == 0 ? null : BY_NAME.get(args[0]);
        if (named != null) {
            lunar.addSubcommand(args[0], named.apply(console));
            return;
        }
        BY_NAME.forEach((name, command) -> lunar.addSubcommand(name, command.apply(console)));
        // these describe the others
        lunar.addSubcommand(new CommandLine.HelpCommand());
        lunar.addSubcommand(new CompletionCommand(console));
        lunar.addSubcommand(new ManualCommand(console));
    }
}
