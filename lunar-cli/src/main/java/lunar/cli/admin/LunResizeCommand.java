package lunar.cli.admin;

import java.io.IOException;
import java.util.Map;
import lunar.admin.client.AdminClient;
import lunar.cli.command.Console;
import lunar.cli.command.SizeConverter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code lunar lun resize}: grows the device of a LUN. */
@Command(name = "resize",
        description = "Grow a LUN on a ram: or file: device, which hosts are told. A device cannot be shrunk while"
                + " it is served.",
        footer = {"", "Example:", "  lunar lun resize iqn.2026-11.org.example:disk 1 20GiB"})
final class LunResizeCommand extends LunChangeCommand {
    @Parameters(index = "1", paramLabel = "N", description = "The LUN.")
    private int lun;

    @Parameters(index = "2", paramLabel = "SIZE", converter = SizeConverter.class,
            description = "The new size, such as 20GiB.")
    private long size;

    LunResizeCommand(Console console) { super(console); }

    @Override
    JsonNode change(AdminClient client) throws IOException {
        return client.patch(luns() + "/" + lun, Map.of("sizeBytes", size));
    }
}
