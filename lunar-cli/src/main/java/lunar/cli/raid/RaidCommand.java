package lunar.cli.raid;

import lunar.cli.command.Console;
import lunar.cli.command.Version;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code lunar raid} command, which lists its subcommands. */
@Command(name = "raid", mixinStandardHelpOptions = true, versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Volumes of several devices: RAID 0, 1, 5, 6, 10 and linear.", footer = {
                "",
                "A volume is called raid5:vol; the config file lists its members (--config, otherwise "
                        + "$LUNAR_CONFIG, else ./lunar.toml).",
                "A command operates on the running volume, in any process of this machine, otherwise it runs "
                        + "it meanwhile. With --socket or --address it operates on the volume of that "
                        + "server.",
                "", "Example:",
                "  lunar raid create raid5:vol 'file:a.img?size=1G' 'file:b.img?size=1G' "
                        + "'file:c.img?size=1G'",
                "  lunar serve raid5:vol & lunar raid status raid5:vol"})
public final class RaidCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    /** The command with all that belongs to it. */
    public static CommandLine line(Console console) {
        var line = new CommandLine(new RaidCommand());
        line.addSubcommand(new RaidCreateCommand(console));
        line.addSubcommand(new RaidAssembleCommand(console));
        line.addSubcommand(new RaidStatusCommand(console));
        line.addSubcommand(new RaidStopCommand(console));
        line.addSubcommand(new RaidFailCommand(console));
        line.addSubcommand(new RaidReplaceCommand(console));
        line.addSubcommand(new RaidAddCommand(console));
        line.addSubcommand(new RaidRemoveCommand(console));
        line.addSubcommand(new RaidRebuildCommand(console));
        line.addSubcommand(new RaidScrubCommand(console));
        line.addSubcommand(new RaidGrowCommand(console));
        line.addSubcommand(new RaidDestroyCommand(console));
        return line;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "missing command; 'lunar raid --help' lists the commands");
    }
}
