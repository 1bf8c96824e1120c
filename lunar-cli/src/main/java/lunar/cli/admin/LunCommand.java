package lunar.cli.admin;

import lunar.cli.command.Console;
import lunar.cli.command.Version;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code lunar lun} alone: lists its commands. */
@Command(name = "lun", mixinStandardHelpOptions = true, versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Add, remove and resize LUNs of a running server, until it ends. 'lunar reload' keeps these"
                + " changes; change the config file, too, to keep them over the next start.",
        footer = {"", "Examples:",
                "  lunar lun add iqn.2026-11.org.example:disk 'file:/srv/disk.img?size=10GiB'",
                "  lunar lun resize iqn.2026-11.org.example:disk 1 20GiB",
                "  lunar lun remove iqn.2026-11.org.example:disk 1"})
public final class LunCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    private LunCommand() {}

    /** The command with its subcommands. */
    public static CommandLine line(Console console) {
        var line = new CommandLine(new LunCommand());
        line.addSubcommand(new LunAddCommand(console));
        line.addSubcommand(new LunRemoveCommand(console));
        line.addSubcommand(new LunResizeCommand(console));
        return line;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "missing command; 'lunar lun --help' lists the commands");
    }
}
