package lunar.osd.store;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;

/**
 * State of an object other than its attributes and its data.
 *
 * @param id its identifier
 * @param type its type
 * @param length bytes of data, of a user object; 0 for other types
 * @param times all timestamps, in milliseconds since 1970 UTC; 0 for never
 */
public record StoredObject(ObjectId id, ObjectType type, long length, Map<Timestamp, Long> times) {
    public StoredObject {
        var all = new EnumMap<Timestamp, Long>(Timestamp.class);
        for (Timestamp each : Timestamp.values()) {
            all.put(each, times.getOrDefault(each, 0L));
        }
        times = Collections.unmodifiableMap(all);
    }

    /** Returns a timestamp, in milliseconds since 1970 UTC; 0 for never. */
    public long time(Timestamp which) {
        return times.getOrDefault(which, 0L);
    }
}
