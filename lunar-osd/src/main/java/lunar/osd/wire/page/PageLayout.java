package lunar.osd.wire.page;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.AttributesPage;
import lunar.scsi.Bytes;

/**
 * The page format of a standard page: which attributes of fixed length it has, in which order. Pages without one are
 * got by lists only. The policy/security pages of root and partitions are among these, because published descriptions
 * of their layouts contradict each other.
 *
 * @param page the page
 * @param fields its attributes
 */
public record PageLayout(StandardPage page, List<Field> fields) {
    /** An attribute, or reserved bytes. */
    public record Field(boolean reserved, int number, int length) {
        static Field of(int number, int length) { return new Field(false, number, length); }

        static Field reserved(int length) { return new Field(true, 0, length); }
    }

    private static final int BYPASS = 0xffff_fffe;

    public PageLayout {
        fields = List.copyOf(fields);
    }

    /** The layout of a page in a version, if it has one. */
    public static Optional<PageLayout> of(StandardPage page, OsdVersion version) {
        List<Field> fields = switch (page) {
            case ROOT_QUOTAS -> List.of(Field.of(1, 8), Field.of(0x10001, 8),
                    Field.of(0x10002, 8), Field.of(0x10081, 4), Field.of(0x20002, 8));
            case PARTITION_QUOTAS -> List.of(Field.of(1, 8), Field.of(0x10001, 8),
                    Field.of(0x10002, 8), Field.of(0x10081, 4));
            case USER_OBJECT_QUOTAS -> List.of(Field.of(1, 8));
            case ROOT_TIMESTAMPS -> List.of(Field.of(2, 6), Field.of(3, 6), Field.of(BYPASS, 1));
            case PARTITION_TIMESTAMPS -> List.of(Field.of(1, 6), Field.of(2, 6), Field.of(3, 6),
                    Field.of(4, 6), Field.of(5, 6), Field.of(BYPASS, 1));
            case COLLECTION_TIMESTAMPS, USER_OBJECT_TIMESTAMPS -> List.of(Field.of(1, 6),
                    Field.of(2, 6), Field.of(3, 6), Field.of(4, 6), Field.of(5, 6));
            case COLLECTION_POLICY_SECURITY, USER_OBJECT_POLICY_SECURITY -> List
                    .of(Field.of(0x4000_0001, 4));
            case CURRENT_COMMAND -> currentCommand(version);
            default -> List.of();
        };
        return fields.isEmpty() ? Optional.empty() : Optional.of(new PageLayout(page, fields));
    }

    private static List<Field> currentCommand(OsdVersion version) {
        var fields = new ArrayList<>(List.of(Field.of(1, version.integrityLength()),
                Field.of(2, 1), Field.reserved(3), Field.of(3, 8), Field.of(4, 8),
                Field.of(5, 8)));
        if (version == OsdVersion.OSD_2) {
            fields.add(Field.of(6, 8));
        }
        return fields;
    }

    /** Bytes of the fields. */
    public int length() {
        return fields.stream().mapToInt(Field::length).sum();
    }

    /**
     * The page with these values; fields without a value are zero.
     *
     * @param values values by attribute number
     * @throws IllegalArgumentException for a value that does not fill its field
     */
    public AttributesPage encode(Map<Integer, Bytes> values) {
        byte[] array = new byte[length()];
        var bytes = MemorySegment.ofArray(array);
        int at = 0;
        for (Field field : fields) {
            Bytes value = field.reserved()
                    ? Bytes.EMPTY
                    : values.getOrDefault(field.number(), Bytes.EMPTY);
            if (value.length() > 0) {
                Fields.checkLength("attribute " + field.number(), value, field.length());
                Fields.bytes(bytes, at, value);
            }
            at += field.length();
        }
        return new AttributesPage(page.number(), Bytes.of(array));
    }

    /** The attributes of the fields that are there completely. */
    public List<Attribute> decode(AttributesPage received) {
        MemorySegment bytes = received.fields().segment();
        var attributes = new ArrayList<Attribute>();
        int at = 0;
        for (Field field : fields) {
            if (!field.reserved() && at + field.length() <= bytes.byteSize()) {
                attributes.add(new Attribute(new AttributeId(page.number(), field.number()),
                        Fields.bytes(bytes, at, field.length())));
            }
            at += field.length();
        }
        return attributes;
    }
}
