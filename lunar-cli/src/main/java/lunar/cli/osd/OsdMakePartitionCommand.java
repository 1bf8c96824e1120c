package lunar.cli.osd;

import java.io.IOException;
import java.util.Map;
import lunar.cli.command.Console;
import lunar.osd.client.Osd;
import lunar.osd.client.Partition;
import lunar.osd.client.RequestOptions;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.page.PartitionAttribute;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar osd mkpart}: a new partition. */
@Command(name = "mkpart", description = "Create a partition, and write its number.",
        footer = {
                "", "Examples:",
                "  lunar osd mkpart iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0",
                "  lunar osd mkpart iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10007 --name photos"})
final class OsdMakePartitionCommand extends OsdDeviceCommand {
    @Parameters(index = "1", arity = "0..1", paramLabel = "PARTITION",
            converter = ObjectNumber.Converter.class,
            description = "Its number. Default: the store chooses.")
    private @Nullable Long id;

    @Option(names = "--name", paramLabel = "TEXT", description = "Its name, an attribute.")
    private @Nullable String name;

    OsdMakePartitionCommand(Console console) { super(console); }

    @Override
    void run(Osd osd) throws IOException {
        RequestOptions options = name == null
                ? RequestOptions.NONE
                : RequestOptions.NONE
                        .set(new Attribute(PartitionAttribute.USERNAME.id(), bytes(name)));
        Partition created = (id == null
                ? osd.createPartition(options)
                : osd.createPartition(id, options)).value();
        String number = ObjectNumber.format(created.id());
        tell(isJson(), Map.of("partition", number), number);
    }
}
