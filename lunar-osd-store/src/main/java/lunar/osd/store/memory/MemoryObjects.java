package lunar.osd.store.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import lunar.osd.store.NoSuchObjectException;
import lunar.osd.store.ObjectWriter;
import lunar.osd.store.StagedData;
import lunar.osd.store.StoredObject;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import org.jspecify.annotations.Nullable;

/** The objects, with what undoes the current change. Not thread-safe. */
final class MemoryObjects implements ObjectWriter {
    private final TreeMap<Long, Partition> partitions = new TreeMap<>(Long::compareUnsigned);
    private final Deque<Runnable> undo = new ArrayDeque<>();
    private Entry root = new Entry(ObjectId.ROOT, ObjectType.ROOT, 0);

    // --- the change ---

    /** Forgets what undoes the change. */
    void commit() { undo.clear(); }

    /** Undoes the change. */
    void rollBack() {
        while (!undo.isEmpty()) {
            undo.pop().run();
        }
    }

    // --- entries ---

    @Nullable
    Entry entry(ObjectId id) {
        if (id.isRoot()) {
            return root;
        }
        Partition partition = partitions.get(id.partition());
        if (partition == null) {
            return null;
        }
        return id.isPartition() ? partition.self : partition.objects.get(id.object());
    }

    /** Returns a user object. */
    Entry userObject(ObjectId id) {
        Entry entry = entry(id);
        if (entry == null || entry.type != ObjectType.USER_OBJECT) {
            throw new NoSuchObjectException(id);
        }
        return entry;
    }

    /** Counts a change of the bytes of a partition. */
    void count(long partition, long bytes) {
        required(partition).usedBytes += bytes;
    }

    private Entry required(ObjectId id) {
        Entry entry = entry(id);
        if (entry == null) {
            throw new IllegalStateException(id + " does not exist");
        }
        return entry;
    }

    private Partition required(long id) {
        Partition partition = partitions.get(id);
        if (partition == null) {
            throw new IllegalStateException("partition " + Long.toHexString(id)
                    + "h does not exist");
        }
        return partition;
    }

    // --- reading ---

    @Override
    public Optional<StoredObject> find(ObjectId object) {
        return Optional.ofNullable(entry(object)).map(Entry::stored);
    }

    @Override
    public Bytes attribute(ObjectId object, AttributeId attribute) {
        Entry entry = entry(object);
        return entry == null
                ? Bytes.EMPTY
                : entry.attributes.getOrDefault(attribute, Bytes.EMPTY);
    }

    @Override
    public void attributes(ObjectId object, int page, Predicate<Attribute> consumer) {
        Entry entry = entry(object);
        if (entry == null) {
            return;
        }
        NavigableMap<AttributeId, Bytes> wanted = page == AttributeId.ALL_PAGES
                ? entry.attributes
                : entry.attributes.subMap(new AttributeId(page, 0), true,
                        new AttributeId(page, AttributeId.ALL_NUMBERS), true);
        for (var each : wanted.entrySet()) {
            if (!consumer.test(new Attribute(each.getKey(), each.getValue()))) {
                return;
            }
        }
    }

    @Override
    public List<Long> partitions(long from, int max) {
        return partitions.tailMap(from, true).keySet().stream().limit(max).toList();
    }

    @Override
    public long partitionCount() { return partitions.size(); }

    @Override
    public List<Long> objects(long partition, ObjectType type, long from, int max) {
        Partition in = partitions.get(partition);
        return in == null
                ? List.of()
                : in.objects.tailMap(from, true).values().stream()
                        .filter(entry -> entry.type == type).map(entry -> entry.id.object())
                        .limit(max).toList();
    }

    @Override
    public long objectCount(long partition, ObjectType type) {
        Partition in = partitions.get(partition);
        return in == null ? 0 : in.count(type);
    }

    @Override
    public List<Long> members(ObjectId collection, long from, int max) {
        Entry entry = entry(collection);
        return entry == null
                ? List.of()
                : entry.linked.tailSet(from, true).stream().limit(max).toList();
    }

    @Override
    public long memberCount(ObjectId collection) {
        Entry entry = entry(collection);
        return entry == null ? 0 : entry.linked.size();
    }

    @Override
    public List<Long> collectionsOf(ObjectId userObject) {
        Entry entry = entry(userObject);
        return entry == null ? List.of() : List.copyOf(entry.linked);
    }

    @Override
    public long usedBytes(long partition) {
        if (partition == 0) {
            return partitions.values().stream().mapToLong(each -> each.usedBytes).sum();
        }
        Partition in = partitions.get(partition);
        return in == null ? 0 : in.usedBytes;
    }

    @Override
    public long freeIds(long partition, int count) {
        NavigableMap<Long, ?> used = partition == 0 ? partitions : required(partition).objects;
        long last = used.isEmpty() ? 0 : used.lastKey();
        long first = Long.compareUnsigned(last, ObjectId.FIRST) < 0 ? ObjectId.FIRST : last + 1;
        if (Long.compareUnsigned(first + count - 1, last) > 0) {
            return first;
        }
        first = ObjectId.FIRST; // the largest identifiers are in use: the first gap
        for (long each : used.tailMap(first, true).keySet()) {
            if (Long.compareUnsigned(each - first, count) >= 0) {
                return first;
            }
            first = each + 1;
        }
        throw new IllegalStateException("no " + count + " free identifiers");
    }

    // --- changing ---

    @Override
    public void create(ObjectId object, ObjectType type, long timeMs) {
        if (entry(object) != null) {
            throw new IllegalStateException(object + " exists");
        }
        var entry = new Entry(object, type, timeMs);
        if (object.isPartition()) {
            partitions.put(object.partition(), new Partition(entry));
            undo.push(() -> partitions.remove(object.partition()));
        } else {
            Partition in = required(object.partition());
            in.add(entry);
            undo.push(() -> in.remove(entry));
        }
    }

    @Override
    public void create(ObjectId object, StagedData data, long timeMs) {
        create(object, ObjectType.USER_OBJECT, timeMs);
        replaceData(object, data);
    }

    @Override
    public void replaceData(ObjectId object, StagedData data) {
        Entry entry = userObject(object);
        MemoryData before = entry.data;
        var staged = (MemoryStagedData) data;
        setData(entry, staged.take());
        undo.push(() -> {
            setData(entry, before);
            staged.giveBack();
        });
    }

    private void setData(Entry entry, MemoryData data) {
        count(entry.id.partition(), data.length() - entry.data.length());
        entry.data = data;
    }

    @Override
    public void remove(ObjectId object) {
        if (object.isRoot()) {
            throw new IllegalStateException("the root cannot be removed");
        }
        if (object.isPartition()) {
            Partition gone = required(object.partition());
            partitions.remove(object.partition());
            undo.push(() -> partitions.put(object.partition(), gone));
            return;
        }
        Entry gone = required(object);
        Partition in = required(object.partition());
        for (long other : List.copyOf(gone.linked)) {
            unlink(gone, required(new ObjectId(object.partition(), other)));
        }
        in.remove(gone);
        undo.push(() -> in.add(gone));
    }

    @Override
    public void clear() {
        Entry before = root;
        var all = new TreeMap<>(partitions);
        partitions.clear();
        root = new Entry(ObjectId.ROOT, ObjectType.ROOT, 0);
        root.times.putAll(before.times);
        undo.push(() -> {
            root = before;
            partitions.clear();
            partitions.putAll(all);
        });
    }

    @Override
    public void setAttribute(ObjectId object, AttributeId attribute, Bytes value) {
        var attributes = required(object).attributes;
        Bytes before = value.length() == 0
                ? attributes.remove(attribute)
                : attributes.put(attribute, value);
        undo.push(() -> {
            if (before == null) {
                attributes.remove(attribute);
            } else {
                attributes.put(attribute, before);
            }
        });
    }

    @Override
    public void setTime(ObjectId object, Timestamp which, long timeMs) {
        var times = required(object).times;
        Long before = times.put(which, timeMs);
        undo.push(() -> times.put(which, before == null ? 0 : before));
    }

    @Override
    public void addMember(ObjectId collection, ObjectId userObject) {
        Entry group = required(collection);
        Entry member = userObject(userObject);
        if (group.type != ObjectType.COLLECTION
                || collection.partition() != userObject.partition()) {
            throw new IllegalStateException(
                    userObject + " cannot be in a collection " + collection);
        }
        if (group.linked.add(userObject.object())) {
            member.linked.add(collection.object());
            undo.push(() -> {
                group.linked.remove(userObject.object());
                member.linked.remove(collection.object());
            });
        }
    }

    @Override
    public void removeMember(ObjectId collection, ObjectId userObject) {
        Entry group = entry(collection);
        Entry member = entry(userObject);
        if (group != null && member != null) {
            unlink(group, member);
        }
    }

    /** Ends the membership between two objects, whichever of them is the collection. */
    private void unlink(Entry one, Entry other) {
        if (one.linked.remove(other.id.object())) {
            other.linked.remove(one.id.object());
            undo.push(() -> {
                one.linked.add(other.id.object());
                other.linked.add(one.id.object());
            });
        }
    }
}
