package lunar.osd.store.directory;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import lunar.block.StorageException;
import lunar.osd.store.Growth;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.StagedData;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/**
 * A step of a random script for a partition, as an operation on a store and on the model.
 *
 * @param inPlace the object whose data it writes in place, so that a crash leaves any part written; 0 for none
 */
record ScriptStep(String name, Call call, Runnable model, long inPlace) {
    private static final int MAX_OBJECTS = 40;
    private static final int MAX_BYTES = 60_000;
    private static final long MANY = ObjectId.FIRST + 5000;
    private static final int MANY_COUNT = 300;

    /** The operation on a store. */
    @FunctionalInterface
    interface Call {
        void on(ObjectStore store) throws StorageException;
    }

    /** Returns the next step, which depends on nothing but the random numbers and the state. */
    static ScriptStep next(Random random, PartitionModel model) {
        if (!model.exists) {
            ObjectId id = ObjectId.ofPartition(model.partition);
            return atomic("create partition", store -> store.change(objects -> {
                objects.create(id, ObjectType.PARTITION, 1);
                return true;
            }), () -> model.exists = true);
        }
        if (model.objects.isEmpty() || random.nextInt(4) == 0) {
            return nameSpace(random, model);
        }
        List<Long> ids = new ArrayList<>(model.objects.keySet());
        return data(random, model, ids.get(random.nextInt(ids.size())));
    }

    private static ScriptStep atomic(String name, Call call, Runnable model) {
        return new ScriptStep(name, call, model, 0);
    }

    private static byte[] bytes(Random random) {
        return bytes(random, 1 + random.nextInt(1 << 2 + random.nextInt(14)));
    }

    private static byte[] bytes(Random random, int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    private static ScriptStep nameSpace(Random random, PartitionModel model) {
        long id = ObjectId.FIRST + random.nextInt(1000);
        boolean taken = model.objects.containsKey(id) || model.collections.containsKey(id);
        int kind = random.nextInt(100);
        boolean crowded = model.objects.size() > MAX_OBJECTS;
        if (kind < (crowded ? 40 : 2)) {
            ObjectId home = ObjectId.ofPartition(model.partition);
            return atomic("remove partition", store -> store.change(objects -> {
                objects.remove(home);
                return true;
            }), () -> {
                model.exists = false;
                model.objects.clear();
                model.collections.clear();
            });
        }
        if (kind < 4 && model.objects.tailMap(MANY).isEmpty()) {
            return createMany(random, model);
        }
        if (kind < 15 && !model.collections.isEmpty()) {
            return collection(random, model);
        }
        if (taken || model.objects.size() >= MAX_OBJECTS) {
            return remove(model, model.collections.containsKey(id) || model.objects.isEmpty()
                    ? id
                    : new ArrayList<>(model.objects.keySet())
                            .get(random.nextInt(model.objects.size())));
        }
        if (kind < 30) {
            return atomic("create collection", store -> store.change(objects -> {
                objects.create(model.id(id), ObjectType.COLLECTION, 1);
                return true;
            }), () -> model.collections.put(id, new TreeSet<>()));
        }
        return create(random, model, id);
    }

    private static ScriptStep create(Random random, PartitionModel model, long id) {
        var item = new PartitionModel.Item();
        item.modified = 1;
        item.settled = true;
        if (random.nextBoolean()) {
            item.data = bytes(random);
        }
        var name = new AttributeId(0x10000, random.nextInt(3));
        item.attributes.put(name, Bytes.of(bytes(random)));
        return atomic("create object", store -> {
            try (StagedData staged = store.stage()) {
                staged.write(0, MemorySegment.ofArray(item.data));
                store.change(objects -> {
                    if (item.data.length == 0) {
                        objects.create(model.id(id), ObjectType.USER_OBJECT, 1);
                    } else {
                        objects.create(model.id(id), staged, 1);
                    }
                    objects.setAttribute(model.id(id), name,
                            item.attributes.firstEntry().getValue());
                    return true;
                });
            }
        }, () -> model.objects.put(id, item.copy()));
    }

    /** Creates more objects than one transaction deletes when the partition is removed. */
    private static ScriptStep createMany(Random random, PartitionModel model) {
        var name = new AttributeId(0x10000, random.nextInt(3));
        Bytes value = Bytes.of(bytes(random, 50));
        return atomic("create many objects", store -> store.change(objects -> {
            for (long id = MANY; id < MANY + MANY_COUNT; id++) {
                objects.create(model.id(id), ObjectType.USER_OBJECT, 1);
                objects.setAttribute(model.id(id), name, value);
            }
            return true;
        }), () -> {
            for (long id = MANY; id < MANY + MANY_COUNT; id++) {
                var item = new PartitionModel.Item();
                item.modified = 1;
                item.settled = true;
                item.attributes.put(name, value);
                model.objects.put(id, item);
            }
        });
    }

    private static ScriptStep remove(PartitionModel model, long id) {
        return atomic("remove", store -> store.change(objects -> {
            objects.remove(model.id(id));
            return true;
        }), () -> {
            model.objects.remove(id);
            model.collections.remove(id);
            model.collections.values().forEach(members -> members.remove(id));
        });
    }

    private static ScriptStep collection(Random random, PartitionModel model) {
        List<Long> groups = new ArrayList<>(model.collections.keySet());
        long group = groups.get(random.nextInt(groups.size()));
        if (model.objects.isEmpty() || random.nextInt(10) == 0) {
            return remove(model, group);
        }
        List<Long> ids = new ArrayList<>(model.objects.keySet());
        long member = ids.get(random.nextInt(ids.size()));
        boolean add = random.nextInt(3) > 0;
        return atomic("members", store -> store.change(objects -> {
            if (add) {
                objects.addMember(model.id(group), model.id(member));
            } else {
                objects.removeMember(model.id(group), model.id(member));
            }
            return true;
        }), () -> {
            if (add) {
                model.collections.get(group).add(member);
            } else {
                model.collections.get(group).remove(member);
            }
        });
    }

    private static ScriptStep data(Random random, PartitionModel model, long object) {
        PartitionModel.Item item = model.objects.get(object);
        ObjectId id = model.id(object);
        byte[] data = bytes(random);
        int offset = random.nextInt(MAX_BYTES - data.length);
        switch (random.nextInt(10)) {
            case 0, 1 -> {
                return new ScriptStep("write", store -> store.write(id, offset,
                        MemorySegment.ofArray(data), Growth.UNLIMITED), () -> {
                            item.settled = false;
                            item.data = Arrays.copyOf(item.data,
                                    Math.max(item.data.length, offset + data.length));
                            System.arraycopy(data, 0, item.data, offset, data.length);
                        }, object);
            }
            case 2 -> {
                return item.data.length + data.length > MAX_BYTES
                        ? resize(random, item, id)
                        : new ScriptStep("append", store -> store.append(id,
                                MemorySegment.ofArray(data), Growth.UNLIMITED), () -> {
                                    item.settled = false;
                                    item.data = Arrays.copyOf(item.data,
                                            item.data.length + data.length);
                                    System.arraycopy(data, 0, item.data,
                                            item.data.length - data.length, data.length);
                                }, object);
            }
            case 3 -> {
                return new ScriptStep("zero", store -> store.zero(id, offset, data.length,
                        Growth.UNLIMITED), () -> {
                            item.settled = false;
                            item.data = Arrays.copyOf(item.data,
                                    Math.max(item.data.length, offset + data.length));
                            Arrays.fill(item.data, offset, offset + data.length, (byte) 0);
                        }, object);
            }
            case 4 -> {
                return resize(random, item, id);
            }
            case 5 -> {
                return punch(item, id, offset, data.length);
            }
            case 6 -> {
                return replace(item, id, data);
            }
            case 7 -> {
                return attributes(random, item, id);
            }
            default -> {
                boolean all = random.nextInt(4) == 0;
                return atomic("flush", store -> {
                    store.touch(id, EnumSet.of(Timestamp.DATA_ACCESSED), 5);
                    if (all) {
                        store.flush();
                    } else {
                        store.flush(id);
                    }
                }, () -> {
                    if (all) {
                        model.objects.values().forEach(each -> each.settled = true);
                    } else {
                        item.settled = true;
                    }
                });
            }
        }
    }

    private static ScriptStep resize(Random random, PartitionModel.Item item, ObjectId id) {
        int length = random.nextInt(1 + random.nextInt(MAX_BYTES));
        return atomic("resize", store -> store.resize(id, length, Growth.UNLIMITED),
                () -> {
                    item.settled = false;
                    item.data = Arrays.copyOf(item.data, length);
                });
    }

    private static ScriptStep punch(PartitionModel.Item item, ObjectId id, int offset,
            int count) {
        return atomic("punch", store -> store.punch(id, offset, count), () -> {
            if (offset < item.data.length) { // an end is cut off in place
                item.settled = offset + count < item.data.length;
            }
            int from = Math.min(offset, item.data.length);
            int to = Math.min(offset + count, item.data.length);
            byte[] left = Arrays.copyOf(item.data, item.data.length - (to - from));
            System.arraycopy(item.data, to, left, from, item.data.length - to);
            item.data = left;
        });
    }

    private static ScriptStep replace(PartitionModel.Item item, ObjectId id, byte[] data) {
        return atomic("replace data", store -> {
            try (StagedData staged = store.stage()) {
                staged.write(0, MemorySegment.ofArray(data));
                store.change(objects -> {
                    objects.replaceData(id, staged);
                    return true;
                });
            }
        }, () -> {
            item.settled = true;
            item.data = data.clone();
        });
    }

    private static ScriptStep attributes(Random random, PartitionModel.Item item, ObjectId id) {
        var name = new AttributeId(0x10000, random.nextInt(3));
        var other = new AttributeId(0x20000, 1);
        Bytes value = random.nextInt(4) == 0 ? Bytes.EMPTY : Bytes.of(bytes(random));
        long time = random.nextInt(1_000_000);
        return atomic("set attributes", store -> store.change(objects -> {
            objects.setAttribute(id, name, value);
            objects.setAttribute(id, other, Bytes.of((byte) time));
            objects.setTime(id, Timestamp.ATTRIBUTES_MODIFIED, time);
            return true;
        }), () -> {
            item.modified = time;
            item.attributes.put(other, Bytes.of((byte) time));
            if (value.length() == 0) {
                item.attributes.remove(name);
            } else {
                item.attributes.put(name, value);
            }
        });
    }
}
