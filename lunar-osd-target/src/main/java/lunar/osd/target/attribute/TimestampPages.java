package lunar.osd.target.attribute;

import static lunar.osd.target.attribute.StandardValue.readOnly;
import static lunar.osd.target.attribute.StandardValue.stored;

import java.util.ArrayList;
import java.util.List;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.StandardPage;
import lunar.scsi.Bytes;

/** The timestamps pages: when an object was created, accessed and modified. */
final class TimestampPages {
    private static final int FIRST_NUMBER = 1;
    private static final Bytes NOT_BYPASSED = Values.number(0, 1);

    private TimestampPages() {}

    /** The times of a page: all five, numbered from 1 on. */
    static List<StandardValue> times(StandardPage page) {
        var all = new ArrayList<StandardValue>();
        int number = FIRST_NUMBER;
        for (Timestamp which : Timestamp.values()) {
            all.add(time(new AttributeId(page.number(), number++), which));
        }
        return all;
    }

    private static StandardValue time(AttributeId id, Timestamp which) {
        return readOnly(id, scope -> Values.time(scope.object().time(which)));
    }

    static List<StandardValue> ofPartition() {
        var all = times(StandardPage.PARTITION_TIMESTAMPS);
        all.add(stored(PartitionAttribute.TIMESTAMP_BYPASS, SetRule.exactly(1),
                _ -> NOT_BYPASSED));
        return all;
    }

    static List<StandardValue> ofRoot() {
        return List.of(
                time(RootAttribute.ATTRIBUTES_ACCESSED.id(), Timestamp.ATTRIBUTES_ACCESSED),
                time(RootAttribute.ATTRIBUTES_MODIFIED.id(), Timestamp.ATTRIBUTES_MODIFIED),
                stored(RootAttribute.TIMESTAMP_BYPASS, SetRule.exactly(1), _ -> NOT_BYPASSED));
    }
}
