package lunar.osd.store.memory;

import java.util.TreeMap;
import lunar.osd.wire.ObjectType;

/** A partition with its collections and user objects. */
final class Partition {
    final Entry self;
    final TreeMap<Long, Entry> objects = new TreeMap<>(Long::compareUnsigned);
    long usedBytes;
    long collections;

    Partition(Entry self) { this.self = self; }

    void add(Entry entry) {
        objects.put(entry.id.object(), entry);
        count(entry, 1);
    }

    void remove(Entry entry) {
        objects.remove(entry.id.object());
        count(entry, -1);
    }

    private void count(Entry entry, int sign) {
        usedBytes += (long) sign * entry.data.length();
        if (entry.type == ObjectType.COLLECTION) {
            collections += sign;
        }
    }

    long count(ObjectType type) {
        return type == ObjectType.COLLECTION ? collections : objects.size() - collections;
    }
}
