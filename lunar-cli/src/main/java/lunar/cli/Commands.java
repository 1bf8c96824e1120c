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
    /** In the order of the help; each makes a command, or a line of one with subcommands. */
    private static final Map<String, Function<Console, Object>> BY_NAME = byName();

    private Commands() {}

    private static Map<String, Function<Console, Object>> byName() {
        var all = new LinkedHashMap<String, Function<Console, Object>>();
        all.put("serve", ServeCommand::new);
        all.put("discover", DiscoverCommand::new);
        all.put("info", InfoCommand::new);
        all.put("copy", CopyCommand::new);
        all.put("bench", BenchCommand::new);
        all.put("browse", BrowseCommand::new);
        all.put("raid", RaidCommand::line);
        all.put("osd", OsdCommand::line);
        all.put("rdma", RdmaCommand::line);
        all.put("status", StatusCommand::new);
        all.put("sessions", SessionsCommand::new);
        all.put("luns", LunsCommand::new);
        all.put("top", TopCommand::new);
        all.put("logout", LogoutCommand::new);
        all.put("lun", LunCommand::line);
        all.put("drain", DrainCommand::new);
        all.put("reload", ReloadCommand::new);
        all.put("config", ConfigCommand::line);
        all.put("key", KeyCommand::line);
        all.put("accept-loss", AcceptLossCommand::new);
        all.put("demo", DemoCommand::new);
        all.put("warm-up", WarmUpCommand::new);
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
