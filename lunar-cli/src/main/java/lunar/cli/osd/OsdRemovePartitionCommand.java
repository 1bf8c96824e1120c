package lunar.cli.osd;

import java.io.IOException;
import java.util.Map;
import lunar.cli.command.Console;
import lunar.osd.client.Osd;
import lunar.osd.client.RequestOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar osd rmpart}: the end of a partition. */
@Command(name = "rmpart", description = "Remove a partition, which must be empty.",
        footer = {
                "", "Example:",
                "  lunar osd rmpart iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10007 --recursive"})
final class OsdRemovePartitionCommand extends OsdDeviceCommand {
    @Parameters(index = "1", paramLabel = "PARTITION", converter = ObjectNumber.Converter.class,
            description = "Its number.")
    private long id;

    @Option(names = "--recursive", description = "Remove its objects and collections too.")
    private boolean recursive;

    OsdRemovePartitionCommand(Console console) { super(console); }

    @Override
    void run(Osd osd) throws IOException {
        var _ = osd.partition(id).remove(recursive, RequestOptions.NONE);
        String number = ObjectNumber.format(id);
        tell(isJson(), Map.of("removed", number), "removed " + number);
    }
}
