package lunar.osd.store.directory;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import lunar.block.StorageException;
import lunar.osd.store.Growth;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.StoredObject;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/** Model of a partition: its content, to be compared with a store's. */
final class PartitionModel {
    /** A user object; its fields are compared. */
    static final class Item {
        /** Never modified, but replaced. */
        byte[] data = new byte[0];
        /** Whether the data is as stable as the change that made the rest of the object. */
        boolean settled;
        long modified;
        final TreeMap<AttributeId, Bytes> attributes = new TreeMap<>();

        Item copy() {
            var copy = new Item();
            copy.data = data;
            copy.settled = settled;
            copy.modified = modified;
            copy.attributes.putAll(attributes);
            return copy;
        }

        @Override
        public String toString() {
            return data.length + " bytes, " + attributes + " at " + modified
                    + (settled ? ", settled" : "");
        }

        boolean isLike(Item other) { return Arrays.equals(data, other.data) && isNamedLike(other); }

        /** Whether everything but the data is alike. */
        boolean isNamedLike(Item other) {
            return modified == other.modified && attributes.equals(other.attributes);
        }
    }

    final long partition;
    boolean exists;
    final TreeMap<Long, Item> objects = new TreeMap<>();
    final TreeMap<Long, TreeSet<Long>> collections = new TreeMap<>();

    PartitionModel(long partition) { this.partition = partition; }

    ObjectId id(long object) { return new ObjectId(partition, object); }

    PartitionModel copy() {
        var copy = new PartitionModel(partition);
        copy.exists = exists;
        objects.forEach((id, item) -> copy.objects.put(id, item.copy()));
        collections.forEach((id, members) -> copy.collections.put(id, new TreeSet<>(members)));
        return copy;
    }

    long bytes() { return objects.values().stream().mapToLong(item -> item.data.length).sum(); }

    /** Reads a partition, and checks that the ways to read it agree. */
    static PartitionModel read(ObjectStore store, long partition) throws StorageException {
        var model = new PartitionModel(partition);
        store.query(objects -> {
            model.exists = objects.find(ObjectId.ofPartition(partition)).isPresent();
            for (long id : objects.objects(partition, ObjectType.USER_OBJECT, 0, 10_000)) {
                model.objects.put(id, item(objects, model.id(id)));
            }
            for (long id : objects.objects(partition, ObjectType.COLLECTION, 0, 10_000)) {
                var members = new TreeSet<>(objects.members(model.id(id), 0, 10_000));
                if (objects.memberCount(model.id(id)) != members.size()) {
                    throw new IllegalStateException("members of collection " + id);
                }
                model.collections.put(id, members);
            }
            require(objects.objectCount(partition, ObjectType.USER_OBJECT),
                    model.objects.size(), "number of user objects");
            require(objects.objectCount(partition, ObjectType.COLLECTION),
                    model.collections.size(), "number of collections");
            return true;
        });
        for (long id : model.objects.keySet()) {
            byte[] data = new byte[Math.toIntExact(store.length(model.id(id)))];
            require(store.read(model.id(id), 0, MemorySegment.ofArray(data)), data.length,
                    "bytes read");
            require(data.length, model.objects.get(id).data.length, "length");
            model.objects.get(id).data = data;
        }
        long used = store.query(objects -> objects.usedBytes(partition));
        require(used, model.bytes(), "used bytes");
        return model;
    }

    /** Creates everything in a store that does not have the partition. */
    void writeTo(ObjectStore store) throws StorageException {
        if (!exists) {
            return;
        }
        store.change(writer -> {
            writer.create(ObjectId.ofPartition(partition), ObjectType.PARTITION, 1);
            for (Map.Entry<Long, Item> each : objects.entrySet()) {
                Item item = each.getValue();
                writer.create(id(each.getKey()), ObjectType.USER_OBJECT, 1);
                item.attributes.forEach((name, value) -> {
                    try {
                        writer.setAttribute(id(each.getKey()), name, value);
                    } catch (StorageException e) {
                        throw new IllegalStateException(e);
                    }
                });
                writer.setTime(id(each.getKey()), Timestamp.ATTRIBUTES_MODIFIED, item.modified);
            }
            for (Map.Entry<Long, TreeSet<Long>> each : collections.entrySet()) {
                writer.create(id(each.getKey()), ObjectType.COLLECTION, 1);
                for (long member : each.getValue()) {
                    writer.addMember(id(each.getKey()), id(member));
                }
            }
            return true;
        });
        for (Map.Entry<Long, Item> each : objects.entrySet()) {
            store.write(id(each.getKey()), 0, MemorySegment.ofArray(each.getValue().data),
                    Growth.UNLIMITED);
        }
    }

    private static Item item(ObjectReader objects, ObjectId id) throws StorageException {
        StoredObject found = objects.find(id).orElseThrow();
        var item = new Item();
        item.data = new byte[Math.toIntExact(found.length())];
        item.modified = found.time(Timestamp.ATTRIBUTES_MODIFIED);
        objects.attributes(id, AttributeId.ALL_PAGES, each -> {
            item.attributes.put(each.id(), each.value());
            return true;
        });
        return item;
    }

    private static void require(long found, long expected, String what) {
        if (found != expected) {
            throw new IllegalStateException(what + ": " + found + " instead of " + expected);
        }
    }

    /** Returns how this differs from what is expected. */
    List<String> differences(PartitionModel expected) {
        var found = new ArrayList<String>();
        if (exists != expected.exists) {
            found.add("partition exists: " + exists);
        }
        if (!collections.equals(expected.collections)) {
            found.add("collections " + collections + " instead of " + expected.collections);
        }
        var ids = new TreeSet<>(objects.keySet());
        ids.addAll(expected.objects.keySet());
        for (long id : ids) {
            Item is = objects.get(id);
            Item should = expected.objects.get(id);
            if (is == null || should == null) {
                found.add("object " + id + (is == null ? " is missing" : " is there"));
            } else if (!is.isLike(should)) {
                found.add("object " + id + ": " + is.data.length + " bytes, " + is.attributes
                        + " at " + is.modified + " instead of " + should.data.length + " bytes, "
                        + should.attributes + " at " + should.modified + "; first other byte "
                        + Arrays.mismatch(is.data, should.data));
            }
        }
        return found;
    }

    /**
     * Returns how this differs from the states before and after a step that may have had effect; nothing if it is one
     * of them.
     *
     * @param inPlace the object whose data the step writes in place, so that any part may be written; 0 for none
     */
    List<String> differences(PartitionModel before, PartitionModel after, long inPlace) {
        List<String> without = differences(before);
        List<String> with = differences(after);
        if (without.isEmpty() || with.isEmpty()) {
            return List.of();
        }
        Item is = objects.get(inPlace);
        Item was = before.objects.get(inPlace);
        Item becomes = after.objects.get(inPlace);
        if (is != null && was != null && becomes != null
                && isMixed(is.data, was.data, becomes.data)) {
            PartitionModel mixed = before.copy();
            Objects.requireNonNull(mixed.objects.get(inPlace)).data = is.data;
            with = differences(mixed);
        }
        return with.isEmpty() ? with : List.of("with it " + with + "; without it " + without);
    }

    /** Whether each byte is one before or after, and the length between both. */
    private static boolean isMixed(byte[] is, byte[] before, byte[] after) {
        if (is.length < before.length || is.length > after.length) {
            return false;
        }
        for (int i = 0; i < is.length; i++) {
            if (is[i] != after[i] && is[i] != (i < before.length ? before[i] : 0)) {
                return false;
            }
        }
        return true;
    }
}
