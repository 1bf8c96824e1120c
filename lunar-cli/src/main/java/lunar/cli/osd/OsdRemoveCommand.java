package lunar.cli.osd;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lunar.cli.command.Console;
import lunar.osd.client.Osd;
import lunar.osd.client.Partition;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lunar osd rm}: the end of objects. */
@Command(name = "rm", description = "Remove objects.",
        footer = {
                "", "Example:",
                "  lunar osd rm iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 0x10001 0x10002"})
final class OsdRemoveCommand extends OsdDeviceCommand {
    @Parameters(index = "1", paramLabel = "PARTITION", converter = ObjectNumber.Converter.class,
            description = "Number of the partition.")
    private long partition;

    @Parameters(index = "2..*", arity = "1..*", paramLabel = "OBJECT",
            converter = ObjectNumber.Converter.class, description = "Numbers of objects.")
    private List<Long> objects = new ArrayList<>();

    OsdRemoveCommand(Console console) { super(console); }

    @Override
    void run(Osd osd) throws IOException {
        Partition from = osd.partition(partition);
        for (long object : objects) {
            from.object(object).remove();
        }
        List<String> removed = objects.stream().map(ObjectNumber::format).toList();
        tell(isJson(), Map.of("partition", ObjectNumber.format(partition), "removed", removed),
                "removed " + String.join(" ", removed) + " of " + ObjectNumber.format(partition));
    }
}
