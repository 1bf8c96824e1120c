package lunar.cli.manual;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import lunar.cli.command.Console;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code lunar manual}: writes the manual pages; for packages. */
@Command(name = "manual", hidden = true, mixinStandardHelpOptions = true,
        description = "Write the manual pages of all commands.",
        footer = {"", "Example:", "  lunar manual build/man/man1"})
public final class ManualCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(paramLabel = "DIR", description = "Directory of the pages; created if missing.")
    private Path directory = Path.of("");

    @Spec
    private CommandSpec spec = CommandSpec.create();

    public ManualCommand(Console console) { this.console = console; }

    @Override
    public Integer call() throws IOException {
        Files.createDirectories(directory);
        int pages = write(spec.root().commandLine());
        console.out().println(pages + " manual pages in " + directory);
        return 0;
    }

    /** Writes the pages of a command and its subcommands. Returns how many. */
    private int write(CommandLine command) throws IOException {
        CommandSpec page = command.getCommandSpec();
        if (page.usageMessage().hidden()) {
            return 0;
        }
        Files.writeString(directory.resolve(ManPage.name(page) + ".1"), new ManPage(page).text());
        int pages = 1;
        for (CommandLine sub : command.getSubcommands().values()) {
            pages += write(sub);
        }
        return pages;
    }
}
