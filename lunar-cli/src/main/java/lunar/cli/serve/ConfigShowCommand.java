package lunar.cli.serve;

import java.nio.file.Path;
import java.util.Map;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Json;
import lunar.cli.config.ConfigFile;
import lunar.cli.config.ConfigTree;
import lunar.cli.config.TomlText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar config show}: the effective configuration of a file. */
@Command(name = "show",
        description = "Show the effective configuration of a config file: with all defaults, and without"
                + " secrets. The output is a config file that means the same.",
        footer = {"", "Example:", "  lunar config show lunar.toml"})
final class ConfigShowCommand extends DeviceCommand {
    @Parameters(paramLabel = "FILE", description = "The config file.")
    private Path file = Path.of("");

    @Option(names = "--json", description = "Write JSON instead of TOML.")
    private boolean json;

    ConfigShowCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        Map<String, Object> tree = ConfigTree.of(ConfigFile.read(file));
        if (json) {
            console().out().println(Json.text(tree));
        } else {
            console().out().print(TomlText.of(tree));
            console().out().flush();
        }
        return 0;
    }
}
