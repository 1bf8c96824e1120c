package lunar.osd.client;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.CollectionAttribute;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.StandardAttribute;
import lunar.osd.wire.page.UserObjectAttribute;

/** Allocation lengths for attributes whose values are not known yet. */
final class AttributeRoom {
    /** Bytes of a list's header, and those of an entry before its value (OSD-2). */
    static final int HEADER = 8;
    static final int ENTRY = 16;
    /** Bytes of an object before its entries, in a list of several objects. */
    static final int OBJECT = 16;

    private static final int USUAL_VALUE = 256;
    private static final int MOST = ENTRY + align(Attribute.MAX_LENGTH);
    /** Room for a whole page at first; the list is complete if another entry of any length had fitted. */
    private static final int PAGE = MOST + 8192;
    private static final Map<AttributeId, Integer> LENGTHS = lengths();

    private AttributeRoom() {}

    private static Map<AttributeId, Integer> lengths() {
        var lengths = new HashMap<AttributeId, Integer>();
        Stream.<StandardAttribute[]>of(RootAttribute.values(), PartitionAttribute.values(),
                CollectionAttribute.values(), UserObjectAttribute.values(),
                CurrentCommandAttribute.values()).flatMap(Stream::of)
                .forEach(each -> each.length()
                        .ifPresent(length -> lengths.put(each.id(), length)));
        return Map.copyOf(lengths);
    }

    private static int align(int length) { return length + 7 & -8; }

    static boolean isAll(AttributeId id) {
        return id.number() == AttributeId.ALL_NUMBERS || id.page() == AttributeId.ALL_PAGES;
    }

    /** Bytes that usually suffice for a list. */
    static int usual(List<AttributeId> ids) {
        int bytes = HEADER;
        for (AttributeId id : ids) {
            bytes = Math.addExact(bytes, isAll(id)
                    ? PAGE
                    : ENTRY + align(LENGTHS.getOrDefault(id, USUAL_VALUE)));
        }
        return bytes;
    }

    /** Bytes that suffice for a list without wildcards; for a wildcard this is no more than usual. */
    static int full(List<AttributeId> ids) {
        int bytes = HEADER;
        for (AttributeId id : ids) {
            Integer known = LENGTHS.get(id);
            bytes = Math.addExact(bytes,
                    isAll(id) ? PAGE : known == null ? MOST : ENTRY + align(known));
        }
        return bytes;
    }

    /** Whether a retrieved list, which has a wildcard, may have been truncated. */
    static boolean isFull(List<Attribute> attributes, int roomBytes) {
        int bytes = HEADER;
        for (Attribute attribute : attributes) {
            bytes += ENTRY + align(attribute.value().length());
        }
        return roomBytes - bytes < MOST;
    }
}
