package lunar.cli.admin;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import lunar.admin.client.AdminClient;
import lunar.cli.command.Console;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code lunar lun add}: serves another device. */
@Command(name = "add",
        description = "Serve another device as a LUN of a target, until the server ends. Initiators with a table of"
                + " LUNs ([[target.initiator]]) see it only if the table lists it.",
        footer = {"", "Examples:",
                "  lunar lun add iqn.2026-11.org.example:disk 'file:/srv/disk.img?size=10GiB'",
                "  lunar lun add iqn.2026-11.org.example:disk disk:/dev/sdb --lun 7 --read-only"})
final class LunAddCommand extends LunChangeCommand {
    @Parameters(index = "1", paramLabel = "URI",
            description = "The device, as in a config file. File names are those of the server.")
    private String uri = "";

    @Option(names = "--lun", paramLabel = "N",
            description = "Its LUN. Default: the one after the highest that the target has served since the server"
                    + " started.")
    private @Nullable Integer lun;

    @Option(names = "--read-only", description = "Refuse writes.")
    private boolean readOnly;

    LunAddCommand(Console console) { super(console); }

    @Override
    JsonNode change(AdminClient client) throws IOException {
        Map<String, Object> content = new LinkedHashMap<>();
        content.put("uri", uri);
        content.put("readOnly", readOnly);
        if (lun != null) {
            content.put("lun", lun);
        }
        return client.post(luns(), content);
    }
}
