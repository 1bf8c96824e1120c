package lunar.osd.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import lunar.block.StorageException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

/** Tests the contract of object stores. */
abstract class ObjectStoreContract extends ObjectDataContract {
    // --- name space ---

    @Test
    void shouldFindWhatWasCreated() throws Exception {
        store.query(objects -> {
            assertThat(objects.find(ObjectId.ROOT).orElseThrow().type())
                    .isEqualTo(ObjectType.ROOT);
            assertThat(objects.find(HOME).orElseThrow().type()).isEqualTo(ObjectType.PARTITION);
            StoredObject found = objects.find(OBJECT).orElseThrow();
            assertThat(found.id()).isEqualTo(OBJECT);
            assertThat(found.type()).isEqualTo(ObjectType.USER_OBJECT);
            assertThat(found.length()).isZero();
            for (Timestamp each : Timestamp.values()) {
                assertThat(found.time(each)).isEqualTo(2);
            }
            assertThat(objects.find(OTHER)).isEmpty();
            assertThat(objects.find(new ObjectId(PARTITION + 1, OBJECT.object()))).isEmpty();
            return true;
        });
    }

    @Test
    void shouldListInUnsignedOrder() throws Exception {
        List<Long> ids = List.of(0x10005L, 0x7fff_ffff_ffff_ffffL, 0x8000_0000_0000_0000L, -1L);
        store.change(objects -> {
            for (long id : ids.reversed()) {
                objects.create(ObjectId.ofPartition(id), ObjectType.PARTITION, 1);
                objects.create(new ObjectId(PARTITION, id), ObjectType.USER_OBJECT, 1);
            }
            objects.create(COLLECTION, ObjectType.COLLECTION, 1);
            return true;
        });
        store.query(objects -> {
            assertThat(objects.partitions(0, 10)).containsExactly(PARTITION, ids.get(0),
                    ids.get(1), ids.get(2), ids.get(3));
            assertThat(objects.partitions(ids.get(1), 2)).containsExactly(ids.get(1),
                    ids.get(2));
            assertThat(objects.partitionCount()).isEqualTo(5);
            assertThat(objects.objects(PARTITION, ObjectType.USER_OBJECT, 0, 10))
                    .containsExactly(OBJECT.object(), ids.get(0), ids.get(1), ids.get(2),
                            ids.get(3));
            assertThat(objects.objects(PARTITION, ObjectType.USER_OBJECT, ids.get(2), 1))
                    .containsExactly(ids.get(2));
            assertThat(objects.objects(PARTITION, ObjectType.COLLECTION, 0, 10))
                    .containsExactly(COLLECTION.object());
            assertThat(objects.objects(5, ObjectType.USER_OBJECT, 0, 10)).isEmpty();
            assertThat(objects.objectCount(PARTITION, ObjectType.USER_OBJECT)).isEqualTo(5);
            assertThat(objects.objectCount(PARTITION, ObjectType.COLLECTION)).isEqualTo(1);
            return true;
        });
    }

    @Test
    void shouldFindFreeIdentifiers() throws Exception {
        store.change(objects -> {
            assertThat(objects.freeIds(0, 1)).isEqualTo(PARTITION + 1);
            assertThat(objects.freeIds(PARTITION, 3)).isEqualTo(0x10001);
            objects.create(ObjectId.ofPartition(PARTITION + 1), ObjectType.PARTITION, 1);
            assertThat(objects.freeIds(PARTITION + 1, 3)).isEqualTo(ObjectId.FIRST);
            objects.create(new ObjectId(PARTITION, -2), ObjectType.USER_OBJECT, 1);
            assertThat(objects.freeIds(PARTITION, 1)).isEqualTo(-1);
            objects.create(new ObjectId(PARTITION, 0x10004), ObjectType.USER_OBJECT, 1);
            assertThat(objects.freeIds(PARTITION, 3)).isEqualTo(0x10001);
            assertThat(objects.freeIds(PARTITION, 4)).isEqualTo(0x10005);
            return true;
        });
    }

    @Test
    void shouldRefuseContradictions() throws Exception {
        assertThatThrownBy(() -> store.change(objects -> {
            objects.create(OBJECT, ObjectType.USER_OBJECT, 1);
            return true;
        })).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> store.change(objects -> {
            objects.create(new ObjectId(5, 0x10000), ObjectType.USER_OBJECT, 1);
            return true;
        })).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> store.change(objects -> {
            objects.remove(OTHER);
            return true;
        })).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> store.change(objects -> {
            objects.setAttribute(OTHER, NAME, text("x"));
            return true;
        })).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRemoveAllOfAnObject() throws Exception {
        store.write(OBJECT, 0, MemorySegment.ofArray(new byte[10_000]), Growth.UNLIMITED);
        store.change(objects -> {
            objects.setAttribute(OBJECT, NAME, text("a"));
            objects.create(COLLECTION, ObjectType.COLLECTION, 1);
            objects.addMember(COLLECTION, OBJECT);
            objects.remove(OBJECT);
            assertThat(objects.find(OBJECT)).isEmpty();
            return true;
        });
        assertThatThrownBy(() -> store.length(OBJECT)).isInstanceOf(NoSuchObjectException.class);
        assertThat(used()).isZero();
        store.change(objects -> {
            assertThat(objects.memberCount(COLLECTION)).isZero();
            objects.create(OBJECT, ObjectType.USER_OBJECT, 9);
            assertThat(objects.attribute(OBJECT, NAME)).isEqualTo(Bytes.EMPTY);
            assertThat(objects.collectionsOf(OBJECT)).isEmpty();
            return true;
        });
        assertThat(content(OBJECT)).isEmpty();
    }

    @Test
    void shouldRemoveAPartitionWithItsObjects() throws Exception {
        store.write(OBJECT, 0, MemorySegment.ofArray(new byte[10_000]), Growth.UNLIMITED);
        store.change(objects -> {
            objects.setAttribute(HOME, NAME, text("a"));
            objects.remove(HOME);
            return true;
        });
        store.query(objects -> {
            assertThat(objects.find(HOME)).isEmpty();
            assertThat(objects.find(OBJECT)).isEmpty();
            assertThat(objects.partitionCount()).isZero();
            assertThat(objects.usedBytes(0)).isZero();
            assertThat(objects.attribute(HOME, NAME)).isEqualTo(Bytes.EMPTY);
            return true;
        });
    }

    @Test
    void shouldCreateAPartitionAgainWithoutWhatItHad() throws Exception {
        store.write(OBJECT, 0, MemorySegment.ofArray(new byte[10_000]), Growth.UNLIMITED);
        store.change(objects -> {
            objects.setAttribute(OBJECT, NAME, text("a"));
            objects.setAttribute(HOME, NAME, text("a"));
            objects.create(COLLECTION, ObjectType.COLLECTION, 1);
            objects.addMember(COLLECTION, OBJECT);
            objects.remove(HOME);
            objects.create(HOME, ObjectType.PARTITION, 1);
            assertThat(objects.find(OBJECT)).isEmpty();
            objects.create(OTHER, ObjectType.USER_OBJECT, 1);
            return true;
        });
        store.write(OTHER, 0, MemorySegment.ofArray(new byte[5000]), Growth.UNLIMITED);
        store.query(objects -> {
            assertThat(objects.objects(PARTITION, ObjectType.USER_OBJECT, 0, 10))
                    .containsExactly(OTHER.object());
            assertThat(objects.objects(PARTITION, ObjectType.COLLECTION, 0, 10)).isEmpty();
            assertThat(objects.find(COLLECTION)).isEmpty();
            assertThat(objects.attribute(OBJECT, NAME)).isEqualTo(Bytes.EMPTY);
            assertThat(objects.attribute(HOME, NAME)).isEqualTo(Bytes.EMPTY);
            assertThat(objects.collectionsOf(OBJECT)).isEmpty();
            assertThat(objects.usedBytes(0)).isEqualTo(5000);
            return true;
        });
        store.change(objects -> {
            objects.create(OBJECT, ObjectType.USER_OBJECT, 9);
            return true;
        });
        assertThat(content(OBJECT)).isEmpty();
        assertThat(content(OTHER)).isEqualTo(new byte[5000]);
    }

    @Test
    void shouldClearAll() throws Exception {
        var identity = store.identity();
        store.write(OBJECT, 0, MemorySegment.ofArray(new byte[10_000]), Growth.UNLIMITED);
        store.change(objects -> {
            objects.setAttribute(ObjectId.ROOT, NAME, text("a"));
            objects.clear();
            assertThat(objects.attribute(ObjectId.ROOT, NAME)).isEqualTo(Bytes.EMPTY);
            objects.create(ObjectId.ofPartition(0x20000), ObjectType.PARTITION, 1);
            return true;
        });
        store.query(objects -> {
            assertThat(objects.find(ObjectId.ROOT)).isPresent();
            assertThat(objects.partitions(0, 10)).containsExactly(0x20000L);
            assertThat(objects.usedBytes(0)).isZero();
            return true;
        });
        assertThat(store.identity()).isEqualTo(identity);
    }

    // --- attributes and times ---

    @Test
    void shouldKeepAttributesInOrder() throws Exception {
        var last = new AttributeId(0xf000_0003, 0xffff_fffe);
        store.change(objects -> {
            objects.setAttribute(OBJECT, last, text("last"));
            objects.setAttribute(OBJECT, new AttributeId(0x10000, 0x8000_0000), text("c"));
            objects.setAttribute(OBJECT, NAME, Bytes.of(new byte[Attribute.MAX_LENGTH]));
            objects.setAttribute(OBJECT, NAME, text("b"));
            objects.setAttribute(OBJECT, new AttributeId(0xffff, 7), text("a"));
            objects.setAttribute(OBJECT, new AttributeId(0x10001, 7), text("d"));
            objects.setAttribute(OBJECT, new AttributeId(0x10001, 7), Bytes.EMPTY);
            return true;
        });
        store.query(objects -> {
            var all = new ArrayList<String>();
            objects.attributes(OBJECT, AttributeId.ALL_PAGES,
                    each -> all.add(new String(each.value().toArray())));
            assertThat(all).containsExactly("a", "b", "c", "last");
            all.clear();
            objects.attributes(OBJECT, 0x10000,
                    each -> all.add(new String(each.value().toArray())));
            assertThat(all).containsExactly("b", "c");
            all.clear();
            objects.attributes(OBJECT, AttributeId.ALL_PAGES, each -> !all.add("one"));
            assertThat(all).hasSize(1);
            assertThat(objects.attribute(OBJECT, last)).isEqualTo(text("last"));
            assertThat(objects.attribute(HOME, last)).isEqualTo(Bytes.EMPTY);
            return true;
        });
    }

    @Test
    void shouldKeepTimes() throws Exception {
        store.change(objects -> {
            objects.setTime(OBJECT, Timestamp.DATA_MODIFIED, 0xffff_ffff_ffffL);
            return true;
        });
        store.touch(OBJECT, Set.of(Timestamp.DATA_ACCESSED, Timestamp.ATTRIBUTES_ACCESSED), 7);
        store.touch(OTHER, Set.of(Timestamp.DATA_ACCESSED), 7);
        store.touch(ObjectId.ROOT, Set.of(Timestamp.ATTRIBUTES_ACCESSED), 8);
        store.query(objects -> {
            StoredObject object = objects.find(OBJECT).orElseThrow();
            assertThat(object.time(Timestamp.CREATED)).isEqualTo(2);
            assertThat(object.time(Timestamp.DATA_MODIFIED)).isEqualTo(0xffff_ffff_ffffL);
            assertThat(object.time(Timestamp.DATA_ACCESSED)).isEqualTo(7);
            assertThat(object.time(Timestamp.ATTRIBUTES_ACCESSED)).isEqualTo(7);
            assertThat(objects.find(ObjectId.ROOT).orElseThrow()
                    .time(Timestamp.ATTRIBUTES_ACCESSED)).isEqualTo(8);
            return true;
        });
    }

    @Test
    void shouldKeepMemberships() throws Exception {
        store.change(objects -> {
            objects.create(COLLECTION, ObjectType.COLLECTION, 1);
            objects.create(OTHER, ObjectType.USER_OBJECT, 1);
            objects.addMember(COLLECTION, OTHER);
            objects.addMember(COLLECTION, OBJECT);
            objects.addMember(COLLECTION, OBJECT);
            return true;
        });
        store.change(objects -> {
            assertThat(objects.members(COLLECTION, 0, 9)).containsExactly(OBJECT.object(),
                    OTHER.object());
            assertThat(objects.members(COLLECTION, OTHER.object(), 9))
                    .containsExactly(OTHER.object());
            assertThat(objects.memberCount(COLLECTION)).isEqualTo(2);
            assertThat(objects.collectionsOf(OTHER)).containsExactly(COLLECTION.object());
            objects.removeMember(COLLECTION, OTHER);
            objects.removeMember(COLLECTION, OTHER);
            assertThat(objects.collectionsOf(OTHER)).isEmpty();
            objects.remove(COLLECTION);
            assertThat(objects.collectionsOf(OBJECT)).isEmpty();
            assertThat(objects.find(OBJECT)).isPresent();
            return true;
        });
    }

    // --- atomicity ---

    @Test
    void shouldUndoAChangeThatThrows() throws Exception {
        store.write(OBJECT, 0, MemorySegment.ofArray(new byte[]{1, 2, 3}), Growth.UNLIMITED);
        store.change(objects -> {
            objects.setAttribute(OBJECT, NAME, text("before"));
            objects.create(COLLECTION, ObjectType.COLLECTION, 1);
            objects.addMember(COLLECTION, OBJECT);
            return true;
        });
        try (StagedData staged = store.stage()) {
            staged.write(0, MemorySegment.ofArray(new byte[5000]));
            assertThatThrownBy(() -> store.change(objects -> {
                objects.setAttribute(OBJECT, NAME, text("after"));
                objects.setTime(OBJECT, Timestamp.CREATED, 99);
                objects.create(OTHER, staged, 1);
                objects.remove(COLLECTION);
                objects.create(ObjectId.ofPartition(0x20000), ObjectType.PARTITION, 1);
                objects.remove(HOME);
                objects.clear();
                throw new Refused();
            })).isInstanceOf(Refused.class);
        }
        store.query(objects -> {
            assertThat(objects.partitions(0, 9)).containsExactly(PARTITION);
            assertThat(objects.attribute(OBJECT, NAME)).isEqualTo(text("before"));
            assertThat(objects.find(OBJECT).orElseThrow().time(Timestamp.CREATED)).isEqualTo(2);
            assertThat(objects.find(OTHER)).isEmpty();
            assertThat(objects.members(COLLECTION, 0, 9)).containsExactly(OBJECT.object());
            return true;
        });
        assertThat(content(OBJECT)).containsExactly(1, 2, 3);
        assertThat(used()).isEqualTo(3);
    }

    @Test
    void shouldNotLoseConcurrentChanges() throws Exception {
        var counter = new AttributeId(0x10000, 9);
        try (var threads = Executors.newFixedThreadPool(4)) {
            var running = new ArrayList<Future<Integer>>();
            for (int thread = 0; thread < 4; thread++) {
                Callable<Integer> work = () -> {
                    int refused = 0;
                    for (int i = 0; i < 100; i++) {
                        boolean refuse = i % 5 == 4;
                        try {
                            store.change(objects -> {
                                Bytes before = objects.attribute(OBJECT, counter);
                                int count = before.length() == 0
                                        ? 0
                                        : before.at(0) << 8 | before.at(1);
                                objects.setAttribute(OBJECT, counter,
                                        Bytes.of((byte) (count + 1 >> 8), (byte) (count + 1)));
                                if (refuse) {
                                    throw new Refused();
                                }
                                return count;
                            });
                        } catch (Refused _) {
                            refused++;
                        }
                    }
                    return refused;
                };
                running.add(threads.submit(work));
            }
            for (Future<Integer> each : running) {
                assertThat(each.get()).isEqualTo(20);
            }
        }
        assertThat(store.<Bytes, RuntimeException>query(
                objects -> objects.attribute(OBJECT, counter)))
                .isEqualTo(Bytes.of((byte) (320 >> 8), (byte) 320));
    }

    @Test
    void shouldCreateWithStagedData() throws Exception {
        byte[] data = bytes(new Random(Seed.next()), 20_000);
        try (StagedData staged = store.stage()) {
            staged.write(10_000, MemorySegment.ofArray(data).asSlice(10_000));
            staged.write(0, MemorySegment.ofArray(data).asSlice(0, 10_000));
            assertThat(staged.length()).isEqualTo(data.length);
            store.change(objects -> {
                objects.create(OTHER, staged, 5);
                return true;
            });
        }
        assertThat(content(OTHER)).isEqualTo(data);
        assertThat(used()).isEqualTo(data.length);
        try (StagedData staged = store.stage()) {
            staged.write(0, MemorySegment.ofArray(new byte[]{1, 2}));
            store.change(objects -> {
                objects.replaceData(OTHER, staged);
                return true;
            });
        }
        assertThat(content(OTHER)).containsExactly(1, 2);
        assertThat(used()).isEqualTo(2);
        store.write(OTHER, 2, MemorySegment.ofArray(data), Growth.UNLIMITED);
        assertThat(content(OTHER)).hasSize(data.length + 2).startsWith(1, 2).endsWith(data);
    }

    @Test
    void shouldDiscardStagedDataThatNobodyTook() throws Exception {
        try (StagedData staged = store.stage()) {
            staged.write(0, MemorySegment.ofArray(new byte[20_000]));
        }
        assertThat(used()).isZero();
    }

    @Test
    void shouldShowAChangeItsOwnTimestamps() throws Exception {
        store.touch(OBJECT, Set.of(Timestamp.DATA_MODIFIED), 5);
        long[] times = store.change(objects -> {
            long before = objects.find(OBJECT).orElseThrow().time(Timestamp.DATA_MODIFIED);
            objects.setTime(OBJECT, Timestamp.DATA_MODIFIED, 9);
            return new long[]{before,
                    objects.find(OBJECT).orElseThrow().time(Timestamp.DATA_MODIFIED)};
        });
        assertThat(times).containsExactly(5, 9);
    }

    @Test
    void shouldFailWhenClosed() throws Exception {
        store.close();
        assertThatThrownBy(() -> store.length(OBJECT)).isInstanceOf(StorageException.class);
        assertThatThrownBy(() -> store.change(_ -> true)).isInstanceOf(StorageException.class);
        assertThatThrownBy(() -> store.flush()).isInstanceOf(StorageException.class);
        store.close();
    }
}
