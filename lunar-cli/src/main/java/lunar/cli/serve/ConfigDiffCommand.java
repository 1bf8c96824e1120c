package lunar.cli.serve;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Json;
import lunar.cli.config.ConfigFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar config diff}: what a reload would change. */
@Command(name = "diff",
        description = "Show what a reload would change in a server that runs with one config file, if"
                + " another took its place.",
        footer = {"", "Example:", "  lunar config diff /etc/lunar/lunar.toml new.toml"})
final class ConfigDiffCommand extends DeviceCommand {
    @Parameters(index = "0", paramLabel = "OLD", description = "The config file of the server.")
    private Path before = Path.of("");

    @Parameters(index = "1", paramLabel = "NEW", description = "The config file to come.")
    private Path after = Path.of("");

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    ConfigDiffCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        List<String> lines = ConfigDiff.lines(ConfigFile.read(before), ConfigFile.read(after));
        if (json) {
            console().out().println(Json.text(Map.of("changes", lines)));
        } else {
            lines.forEach(console().out()::println);
            if (lines.isEmpty()) {
                console().out().println("no changes");
            }
        }
        return 0;
    }
}
