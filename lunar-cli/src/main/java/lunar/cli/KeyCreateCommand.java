package lunar.cli;

import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;

import java.nio.file.Path;
import lunar.filter.KeyFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lunar key create}: a new random key in a new file. */
@Command(name = "create",
        description = "Create a file with a new random key for encrypt=FILE:. An existing file is"
                + " not overwritten.",
        footer = {"", "Example:", "  lunar key create disk.key"})
final class KeyCreateCommand extends DeviceCommand {
    @Parameters(paramLabel = "FILE", description = "The file.")
    private Path file = Path.of("");

    KeyCreateCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        new KeyFile(file).create();
        console().out().println("created key " + file
                + "; keep a copy elsewhere: data encrypted with it cannot be read without it");
        return 0;
    }
}
