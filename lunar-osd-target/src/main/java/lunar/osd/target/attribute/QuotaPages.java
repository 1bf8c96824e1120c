package lunar.osd.target.attribute;

import java.util.ArrayList;
import java.util.List;
import lunar.osd.wire.ObjectType;

/** The quotas pages. */
final class QuotaPages {
    private QuotaPages() {}

    static List<StandardValue> of(ObjectType type) {
        var all = new ArrayList<StandardValue>();
        for (Quota quota : Quota.values()) {
            quota.of(type).ifPresent(id -> all.add(new StandardValue(id,
                    scope -> quota.value(scope, id), SetRule.exactly(quota.length()),
                    (change, value) -> change.store(id, value))));
        }
        return all;
    }
}
