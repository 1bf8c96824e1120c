package lunar.cli.admin;

import java.io.IOException;
import lunar.admin.client.AdminClient;
import lunar.cli.command.Console;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code lunar reload}: applies the config file again. */
@Command(name = "reload",
        description = "Have a running server read its config file again, as kill -HUP does, and show what has"
                + " changed. If the file is wrong, nothing changes, and the exit status is 1.",
        footer = {"", "Examples:", "  lunar reload", "  lunar reload --discard",
                "  lunar config check lunar.toml && lunar reload --config lunar.toml"})
public final class ReloadCommand extends AdminCommand {
    @Option(names = "--discard",
            description = "Discard the changes of 'lunar lun'. Default: they are kept on top of the file.")
    private boolean discard;

    public ReloadCommand(Console console) { super(console); }

    @Override
    int execute(AdminClient client) throws IOException {
        JsonNode document = client.post("/v1/reload" + (discard ? "?discard=true" : ""));
        if (printsJson(document)) {
            return 0;
        }
        JsonNode changes = document.path("changes");
        if (changes.valueStream().allMatch(line -> line.asString("").startsWith("warning: "))) {
            console().out().println("reloaded; nothing that is served has changed");
        }
        changes.forEach(change -> console().out().println(change.asString("")));
        return 0;
    }
}
