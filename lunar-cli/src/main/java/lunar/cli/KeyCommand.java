package lunar.cli;

import lunar.cli.command.Console;
import lunar.cli.command.Version;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code lunar key} alone: lists its commands. */
@Command(name = "key", mixinStandardHelpOptions = true, versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND", description = "Manage keys of encrypted devices.",
        footer = {
                "", "Example:", "  lunar key create disk.key",
                "  lunar serve 'encrypt=disk.key:file:disk.img?size=10GiB'"})
final class KeyCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    /** The command with its subcommands. */
    static CommandLine line(Console console) {
        var line = new CommandLine(new KeyCommand());
        line.addSubcommand(new KeyCreateCommand(console));
        return line;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "missing command; 'lunar key --help' lists the commands");
    }
}
