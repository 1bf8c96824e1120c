package lunar.cli.admin;

import java.io.IOException;
import lunar.admin.client.AdminClient;
import lunar.cli.command.Console;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code lunar lun remove}: serves a LUN no longer. */
@Command(name = "remove",
        description = "Serve a LUN no longer, until the server ends. Its commands are aborted; its device is flushed"
                + " and closed.",
        footer = {"", "Example:", "  lunar lun remove iqn.2026-11.org.example:disk 1"})
final class LunRemoveCommand extends LunChangeCommand {
    @Parameters(index = "1", paramLabel = "N", description = "The LUN.")
    private int lun;

    LunRemoveCommand(Console console) { super(console); }

    @Override
    JsonNode change(AdminClient client) throws IOException {
        return client.delete(luns() + "/" + lun);
    }
}
