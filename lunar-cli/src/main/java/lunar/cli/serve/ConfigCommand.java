package lunar.cli.serve;

import lunar.cli.command.Console;
import lunar.cli.command.Version;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code lunar config} alone: lists its commands. */
@Command(name = "config", mixinStandardHelpOptions = true, versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Check and show config files, without opening their devices.",
        footer = {"", "Examples:", "  lunar config check lunar.toml",
                "  lunar config show lunar.toml", "  lunar config diff old.toml lunar.toml"})
public final class ConfigCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    private ConfigCommand() {}

    /** The command with its subcommands. */
    public static CommandLine line(Console console) {
        var line = new CommandLine(new ConfigCommand());
        line.addSubcommand(new ConfigCheckCommand(console));
        line.addSubcommand(new ConfigShowCommand(console));
        line.addSubcommand(new ConfigDiffCommand(console));
        line.addSubcommand(new ConfigSchemaCommand(console));
        return line;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "missing command; 'lunar config --help' lists the commands");
    }
}
