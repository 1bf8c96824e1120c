package lunar.cli.serve;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;
import lunar.cli.command.Json;
import lunar.cli.config.ConfigCheck;
import lunar.cli.config.ConfigError;
import lunar.cli.config.Place;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar config check}: all errors of config files. */
@Command(name = "check",
        description = "List all errors of config files, as FILE:LINE:COLUMN: MESSAGE. Secret and key"
                + " files are read, and URIs of devices are checked, but no device is opened. The"
                + " exit status is 1 if there is an error.",
        footer = {"", "Example:", "  lunar config check lunar.toml"})
final class ConfigCheckCommand extends DeviceCommand {
    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Config files.")
    private List<Path> files = new ArrayList<>();

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    ConfigCheckCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        var found = new ArrayList<ConfigError>();
        for (Path file : files) {
            List<ConfigError> ofFile = check(file);
            found.addAll(ofFile);
            if (!json) {
                ofFile.forEach(console().out()::println);
                if (ofFile.stream().allMatch(ConfigError::isWarning)) {
                    console().out().println(file + ": no errors");
                }
            }
        }
        boolean isValid = found.stream().allMatch(ConfigError::isWarning);
        if (json) {
            var tree = new LinkedHashMap<String, Object>();
            tree.put("valid", isValid);
            tree.put("findings", found.stream().map(ConfigCheckCommand::tree).toList());
            console().out().println(Json.text(tree));
        }
        return isValid ? 0 : 1;
    }

    /** A file that cannot be read is a finding too where programs read them. */
    private List<ConfigError> check(Path file) throws Failure {
        try {
            return ConfigCheck.check(file);
        } catch (Failure e) {
            if (!json) {
                throw e;
            }
            return List.of(new ConfigError(file, new Place(1, 1), false, Errors.message(e)));
        }
    }

    private static Map<String, Object> tree(ConfigError error) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("file", error.file().toString());
        tree.put("line", error.place().line());
        tree.put("column", error.place().column());
        tree.put("severity", error.isWarning() ? "warning" : "error");
        tree.put("message", error.message());
        return tree;
    }
}
