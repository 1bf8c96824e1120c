package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.StandardPage;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;

/** Memberships of a user object: attributes of its collections page, each with the identifier of a collection. */
final class Membership {
    private static final int PAGE = StandardPage.USER_OBJECT_COLLECTIONS.number();
    private static final int ID_LENGTH = 8;

    private Membership() {}

    /** The memberships. */
    static List<Attribute> of(OsdObject object) throws IOException {
        return object.getPage(PAGE).stream().filter(each -> each.value().length() == ID_LENGTH
                && each.id().number() != AttributeId.PAGE_IDENTIFICATION).toList();
    }

    static void add(OsdObject object, long collection) throws IOException {
        Bytes value = value(collection);
        List<Attribute> all = of(object);
        if (all.stream().noneMatch(each -> each.value().equals(value))) {
            Set<Integer> used = new HashSet<>();
            all.forEach(each -> used.add(each.id().number()));
            int free = 1;
            while (used.contains(free)) {
                free++;
            }
            object.set(new AttributeId(PAGE, free), value);
        }
    }

    static void remove(OsdObject object, long collection) throws IOException {
        Bytes value = value(collection);
        for (Attribute each : of(object)) {
            if (each.value().equals(value)) {
                object.delete(each.id());
                return; // numbers of the others may have changed
            }
        }
    }

    private static Bytes value(long collection) {
        byte[] array = new byte[ID_LENGTH];
        BigEndian.int64(MemorySegment.ofArray(array), 0, collection);
        return Bytes.of(array);
    }
}
