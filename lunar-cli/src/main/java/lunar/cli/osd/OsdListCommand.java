package lunar.cli.osd;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import lunar.block.Size;
import lunar.cli.command.Console;
import lunar.cli.command.Json;
import lunar.osd.client.CollectionObject;
import lunar.osd.client.Osd;
import lunar.osd.client.OsdObject;
import lunar.osd.client.Reply;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.StandardAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar osd ls}: partitions, objects, collections. */
@Command(name = "ls",
        description = "List partitions with objects, bytes and name; or the objects of a partition with bytes and name.",
        footer = {
                "", "Examples:", "  lunar osd ls iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0",
                "  lunar osd ls iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 --json"})
final class OsdListCommand extends OsdDeviceCommand {
    @Parameters(index = "1", arity = "0..1", paramLabel = "PARTITION",
            converter = ObjectNumber.Converter.class,
            description = "List what is in this partition. Default: list the partitions.")
    private @Nullable Long partition;

    @Option(names = "--collections",
            description = "List the partition's collections, in place of its objects.")
    private boolean collections;

    @Option(names = "--collection", paramLabel = "NUMBER", converter = ObjectNumber.Converter.class,
            description = "List the members of this collection of the partition.")
    private @Nullable Long collection;

    @Option(names = "--numbers",
            description = "List numbers alone, without attributes.")
    private boolean numbers;

    OsdListCommand(Console console) { super(console); }

    @Override
    void checkArguments() {
        if (partition == null && (collections || collection != null)) {
            throw wrongUsage("collections belong to a partition; name it after the URI");
        }
    }

    @Override
    void run(Osd osd) throws IOException {
        if (partition == null) {
            partitions(osd);
        } else if (collections) {
            try (Stream<CollectionObject> all = osd.partition(partition).collections()) {
                list("collections", all.map(each -> row("collection", each)));
            }
        } else {
            objects(osd, partition);
        }
    }

    private void partitions(Osd osd) throws IOException {
        try (Stream<Map<String, Object>> rows = numbers
                ? osd.partitions().map(each -> row("partition", each))
                : osd.partitions(0, PartitionAttribute.OBJECT_COUNT.id(),
                        PartitionAttribute.USED_CAPACITY.id(), PartitionAttribute.USERNAME.id())
                        .map(each -> {
                            Map<String, Object> row = row("partition", each.value());
                            number(row, "objects", each, PartitionAttribute.OBJECT_COUNT);
                            number(row, "usedBytes", each, PartitionAttribute.USED_CAPACITY);
                            name(row, each, PartitionAttribute.USERNAME);
                            return row;
                        })) {
            list("partitions", rows);
        }
    }

    private void objects(Osd osd, long of) throws IOException {
        if (collection != null) {
            try (var members = osd.partition(of).collection(collection).members()) {
                list("objects", members.map(each -> row("object", each)));
            }
            return;
        }
        try (Stream<Map<String, Object>> rows = numbers
                ? osd.partition(of).objects().map(each -> row("object", each))
                : osd.partition(of).objects(0, UserObjectAttribute.LOGICAL_LENGTH.id(),
                        UserObjectAttribute.USERNAME.id()).map(each -> {
                            Map<String, Object> row = row("object", each.value());
                            number(row, "bytes", each, UserObjectAttribute.LOGICAL_LENGTH);
                            name(row, each, UserObjectAttribute.USERNAME);
                            return row;
                        })) {
            list("objects", rows);
        }
    }

    private static Map<String, Object> row(String what, OsdObject object) {
        var row = new LinkedHashMap<String, Object>();
        row.put(what, ObjectNumber.format(object.id().object() == 0
                ? object.id().partition()
                : object.id().object()));
        return row;
    }

    private static void number(Map<String, Object> row, String key, Reply<?> reply,
            StandardAttribute attribute) {
        OptionalLong value = reply.attribute(attribute)
                .filter(bytes -> bytes.length() == Long.BYTES).map(Bytes::segment)
                .map(bytes -> OptionalLong.of(BigEndian.int64(bytes, 0)))
                .orElse(OptionalLong.empty());
        value.ifPresent(number -> row.put(key, number));
    }

    private static void name(Map<String, Object> row, Reply<?> reply,
            StandardAttribute attribute) {
        reply.attribute(attribute).ifPresent(value -> row.put("name", text(value)));
    }

    /** Writes rows as they come; JSON when all are there. */
    private void list(String what, Stream<Map<String, Object>> rows) {
        if (isJson()) {
            List<Object> all = new ArrayList<>();
            rows.forEach(all::add);
            console().out().println(Json.text(Map.of(what, all)));
        } else {
            rows.forEach(row -> console().out().println(line(row)));
        }
    }

    private static String line(Map<String, Object> row) {
        var line = new StringBuilder();
        row.forEach((key, value) -> line.append(switch (key) {
            case "objects" -> String.format(Locale.ROOT, " %8s objects", value);
            case "bytes", "usedBytes" ->
                String.format(Locale.ROOT, " %10s", Size.format((Long) value));
            case "name" -> "  " + value;
            default -> String.format(Locale.ROOT, "%-10s", value);
        }));
        return line.toString().stripTrailing();
    }
}
