package lunar.cli.osd;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lunar.cli.command.Console;
import lunar.cli.command.Json;
import lunar.osd.client.Osd;
import lunar.osd.client.OsdObject;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code lunar osd attr}: attributes of the store, a partition, a collection or an object. */
@Command(name = "attr",
        description = "Show, set and delete attributes of the store, of a partition, or of an object or collection."
                + " Without options, show all.",
        footer = {
                "", "Examples:",
                "  lunar osd attr iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 0x10001",
                "  lunar osd attr iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 0x10001 --set 0x10000/1=red"
                        + " --set 0x10000/2=hex:00ff --get 0x1/0x82",
                "  lunar osd attr iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 --page 0x90000001 --json"})
final class OsdAttributesCommand extends OsdDeviceCommand {
    private static final String HEX = "hex:";

    /** {@code PAGE/NUMBER}. */
    static final class IdConverter implements ITypeConverter<AttributeId> {
        @Override
        public AttributeId convert(String value) { return id(value); }
    }

    /** {@code PAGE/NUMBER=VALUE}. */
    static final class AttributeConverter implements ITypeConverter<Attribute> {
        @Override
        public Attribute convert(String value) {
            int equals = value.indexOf('=');
            if (equals < 0) {
                throw new TypeConversionException("'" + value
                        + "' has no value; write for example 0x10000/1=red or 0x10000/1=hex:00ff");
            }
            return new Attribute(id(value.substring(0, equals)),
                    value(value.substring(equals + 1)));
        }

        private static Bytes value(String text) {
            try {
                return text.startsWith(HEX)
                        ? Bytes.ofHex(text.substring(HEX.length()))
                        : bytes(text);
            } catch (IllegalArgumentException _) {
                throw new TypeConversionException("'" + text
                        + "' is not an even number of hexadecimal digits; write for example hex:00ff");
            }
        }
    }

    /** {@code PAGE}. */
    static final class PageConverter implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) { return number(value, value); }
    }

    @Parameters(index = "1", arity = "0..1", paramLabel = "PARTITION",
            converter = ObjectNumber.Converter.class,
            description = "Number of a partition. Default: the attributes are those of the store.")
    private @Nullable Long partition;

    @Parameters(index = "2", arity = "0..1", paramLabel = "OBJECT",
            converter = ObjectNumber.Converter.class,
            description = "Number of an object or collection. Default: those of the partition.")
    private @Nullable Long object;

    @Option(names = "--get", paramLabel = "PAGE/NUMBER", converter = IdConverter.class,
            description = "Show this attribute; may be repeated.")
    private List<AttributeId> gets = new ArrayList<>();

    @Option(names = "--page", paramLabel = "PAGE", converter = PageConverter.class,
            description = "Show the attributes of this page; may be repeated.")
    private List<Integer> pages = new ArrayList<>();

    @Option(names = "--set", paramLabel = "PAGE/NUMBER=VALUE", converter = AttributeConverter.class,
            description = "Set this attribute to a text, or to bytes as in hex:00ff; may be repeated.")
    private List<Attribute> sets = new ArrayList<>();

    @Option(names = "--delete", paramLabel = "PAGE/NUMBER", converter = IdConverter.class,
            description = "Delete this attribute; may be repeated.")
    private List<AttributeId> deletes = new ArrayList<>();

    OsdAttributesCommand(Console console) { super(console); }

    private static AttributeId id(String text) {
        int slash = text.indexOf('/');
        if (slash < 0) {
            throw new TypeConversionException("'" + text
                    + "' is not an attribute; write its page and number, for example 0x10000/1");
        }
        return new AttributeId(number(text.substring(0, slash), text),
                number(text.substring(slash + 1), text));
    }

    private static int number(String text, String all) {
        try {
            return text.regionMatches(true, 0, "0x", 0, 2)
                    ? Integer.parseUnsignedInt(text.substring(2), 16)
                    : Integer.parseUnsignedInt(text);
        } catch (NumberFormatException _) {
            throw new TypeConversionException("'" + all
                    + "' has no valid number; pages and numbers have 32 bits, as in 0x10000/1");
        }
    }

    @Override
    void run(Osd osd) throws IOException {
        OsdObject of = partition == null
                ? osd.root()
                : object == null
                        ? osd.partition(partition)
                        : osd.partition(partition).object(object);
        var changes = new ArrayList<>(sets);
        deletes.forEach(id -> changes.add(Attribute.unset(id)));
        if (!changes.isEmpty()) {
            of.set(changes.toArray(Attribute[]::new));
        }
        var shown = new ArrayList<Attribute>(of.get(gets));
        for (int page : pages) {
            shown.addAll(of.getPage(page));
        }
        if (gets.isEmpty() && pages.isEmpty() && changes.isEmpty()) {
            shown.addAll(of.getAll());
        }
        if (isJson()) {
            console().out().println(Json.text(Map.of("attributes",
                    shown.stream().map(OsdAttributesCommand::tree).toList())));
        } else {
            shown.forEach(each -> console().out().println(line(each)));
        }
    }

    private static Map<String, Object> tree(Attribute attribute) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("page", hex(attribute.id().page()));
        tree.put("number", hex(attribute.id().number()));
        tree.put("hex", attribute.value().toString());
        if (isText(attribute.value())) {
            tree.put("text", text(attribute.value()).replace("\0", "").strip());
        }
        return tree;
    }

    private static String line(Attribute attribute) {
        return String.format(Locale.ROOT, "%-22s %s",
                hex(attribute.id().page()) + "/" + hex(attribute.id().number()),
                attribute.isSet() ? value(attribute.value()) : "not set").strip();
    }

    private static String value(Bytes value) {
        return isText(value)
                ? text(value).replace("\0", "").strip()
                : HEX + value;
    }

    private static String hex(int number) { return "0x" + Integer.toHexString(number); }

    /** Whether a value is printable, but for zeros at its end. */
    private static boolean isText(Bytes value) {
        String text = new String(value.toArray(), StandardCharsets.UTF_8).replaceAll("\0+$", "");
        return !text.isBlank() && text.codePoints()
                .allMatch(each -> !Character.isISOControl(each) && each != 0xfffd);
    }
}
