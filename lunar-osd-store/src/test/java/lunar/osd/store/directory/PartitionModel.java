package lunar.osd.store.directory;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import lunar.block.StorageException;
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
        byte[] data = new byte[0];
        long modified;
        final TreeMap<AttributeId, Bytes> attributes = new TreeMap<>();

        Item copy() {
            var copy = new Item();
            copy.data = data.clone();
            copy.modified = modified;
            copy.attributes.putAll(attributes);
            return copy;
        }

        boolean isLike(Item other) {
            return Arrays.equals(data, other.data) && modified == other.modified
                    && attributes.equals(other.attributes);
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
}
