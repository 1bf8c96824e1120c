package lunar.cli.osd;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import lunar.block.Size;
import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.cli.command.SizeConverter;
import lunar.osd.client.Osd;
import lunar.osd.client.Partition;
import lunar.osd.client.RequestOptions;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.page.RootAttribute;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code lunar osd format}: an empty store. */
@Command(name = "format",
        description = "Format an object store: remove all partitions, objects and attributes.",
        footer = {
                "", "Example:",
                "  lunar osd format iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 --name photos"})
final class OsdFormatCommand extends OsdDeviceCommand {
    @Option(names = "--name", paramLabel = "TEXT", description = "Name of the store.")
    private @Nullable String name;

    @Option(names = "--capacity", paramLabel = "SIZE", converter = SizeConverter.class,
            description = "Capacity to format. Default: all.")
    private long capacityBytes;

    @Option(names = "--force", description = "Format it even if it has partitions.")
    private boolean force;

    OsdFormatCommand(Console console) { super(console); }

    @Override
    void run(Osd osd) throws IOException, Failure {
        if (!force) {
            try (Stream<Partition> partitions = osd.partitions()) {
                if (partitions.findAny().isPresent()) {
                    throw new Failure(osd + " has partitions, which would be lost with all their"
                            + " objects: add --force to format it");
                }
            }
        }
        RequestOptions options = name == null
                ? RequestOptions.NONE
                : RequestOptions.NONE
                        .set(new Attribute(RootAttribute.OSD_NAME.id(), bytes(name)));
        var _ = osd.format(capacityBytes, options);
        long total = osd.info().totalBytes();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("device", osd.toString());
        tree.put("totalBytes", total);
        tell(isJson(), tree, "formatted " + osd + ", " + Size.format(total));
    }
}
