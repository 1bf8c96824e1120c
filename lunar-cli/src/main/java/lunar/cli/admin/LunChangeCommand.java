package lunar.cli.admin;

import java.io.IOException;
import lunar.admin.client.AdminClient;
import lunar.cli.command.Console;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Base class of the commands that change a LUN of a running server. */
abstract class LunChangeCommand extends AdminCommand {
    @Parameters(index = "0", paramLabel = "TARGET",
            description = "Name of the target, as 'lunar luns' shows it.")
    private String target = "";

    LunChangeCommand(Console console) { super(console); }

    /** Returns the path of the LUNs of the target. */
    final String luns() {
        return "/v1/targets/" + AdminClient.segment(target) + "/luns";
    }

    @Override
    final int execute(AdminClient client) throws IOException {
        JsonNode document = change(client);
        if (!printsJson(document)) {
            JsonNode changes = document.path("changes");
            if (changes.valueStream().allMatch(line -> line.asString("").startsWith("warning: "))) {
                console().out().println("nothing has changed");
            }
            changes.forEach(change -> console().out().println(change.asString("")));
        }
        return 0;
    }

    /** Asks for the change, and returns the answer. */
    abstract JsonNode change(AdminClient client) throws IOException;
}
