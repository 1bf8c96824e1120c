package lunar.osd.store.memory;

import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import lunar.osd.store.StoredObject;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/** An object with all that belongs to it. */
final class Entry {
    final ObjectId id;
    final ObjectType type;
    final Map<Timestamp, Long> times = new EnumMap<>(Timestamp.class);
    final TreeMap<AttributeId, Bytes> attributes = new TreeMap<>();
    /** Members of a collection, or collections of a user object. */
    final TreeSet<Long> linked = new TreeSet<>(Long::compareUnsigned);
    MemoryData data = new MemoryData();

    Entry(ObjectId id, ObjectType type, long timeMs) {
        this.id = id;
        this.type = type;
        for (Timestamp each : Timestamp.values()) {
            times.put(each, timeMs);
        }
    }

    StoredObject stored() { return new StoredObject(id, type, data.length(), times); }
}
