package lunar.cli.serve;

import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.config.ConfigSchema;
import picocli.CommandLine.Command;

/** {@code lunar config schema}: the JSON Schema of config files. */
@Command(name = "schema",
        description = "Print the JSON Schema of config files, with which editors complete and check them.",
        footer = {"", "Example:", "  lunar config schema > lunar.schema.json",
                "  and '#:schema ./lunar.schema.json' as the first line of lunar.toml"})
final class ConfigSchemaCommand extends DeviceCommand {
    ConfigSchemaCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        console().out().print(ConfigSchema.text());
        console().out().flush();
        return 0;
    }
}
