package lunar.osd.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.StorageException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import lunar.testkit.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests what object stores do with the data of user objects. */
abstract class ObjectDataContract {
    static final long PARTITION = 0x10000;
    static final ObjectId HOME = ObjectId.ofPartition(PARTITION);
    static final ObjectId OBJECT = new ObjectId(PARTITION, 0x10000);
    static final ObjectId OTHER = new ObjectId(PARTITION, 0x10001);
    static final ObjectId COLLECTION = new ObjectId(PARTITION, 0x10002);
    static final AttributeId NAME = new AttributeId(0x10000, 1);

    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;
    }

    ObjectStore store;

    /** Creates an empty store; each test closes what it was given. */
    abstract ObjectStore create() throws Exception;

    @BeforeEach
    void open() throws Exception {
        store = create();
        store.change(objects -> {
            objects.create(HOME, ObjectType.PARTITION, 1);
            objects.create(OBJECT, ObjectType.USER_OBJECT, 2);
            return true;
        });
    }

    @AfterEach
    void close() throws Exception { store.close(); }

    static Bytes text(String text) { return Bytes.of(text.getBytes()); }

    byte[] content(ObjectId object) throws StorageException {
        byte[] content = new byte[Math.toIntExact(store.length(object))];
        assertThat(store.read(object, 0, MemorySegment.ofArray(content)))
                .isEqualTo(content.length);
        return content;
    }

    static byte[] bytes(Random random, int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    long used() throws StorageException {
        return store.query(objects -> {
            assertThat(objects.usedBytes(0)).isEqualTo(objects.usedBytes(PARTITION));
            return objects.usedBytes(PARTITION);
        });
    }

    @Test
    void shouldReadUpToTheEnd() throws Exception {
        store.write(OBJECT, 3, MemorySegment.ofArray(new byte[]{1, 2}), Growth.UNLIMITED);
        byte[] into = {9, 9, 9, 9};
        assertThat(store.read(OBJECT, 2, MemorySegment.ofArray(into))).isEqualTo(3);
        assertThat(into).containsExactly(0, 1, 2, 9);
        assertThat(store.read(OBJECT, 5, MemorySegment.ofArray(into))).isZero();
        assertThat(store.read(OBJECT, Long.MAX_VALUE - 8, MemorySegment.ofArray(into))).isZero();
        store.write(OBJECT, 100, MemorySegment.NULL, Growth.UNLIMITED);
        assertThat(store.length(OBJECT)).isEqualTo(5);
        store.query(objects -> {
            assertThat(objects.find(OBJECT).orElseThrow().length()).isEqualTo(5);
            return true;
        });
    }

    @Test
    void shouldHaveNoDataOfOtherTypes() {
        byte[] data = {1};
        for (ObjectId each : List.of(ObjectId.ROOT, HOME, OTHER)) {
            assertThatThrownBy(() -> store.length(each))
                    .isInstanceOf(NoSuchObjectException.class);
            assertThatThrownBy(() -> store.read(each, 0, MemorySegment.ofArray(data)))
                    .isInstanceOf(NoSuchObjectException.class);
            assertThatThrownBy(() -> store.write(each, 0, MemorySegment.ofArray(data),
                    Growth.UNLIMITED)).isInstanceOf(NoSuchObjectException.class);
            assertThatThrownBy(() -> store.append(each, MemorySegment.ofArray(data),
                    Growth.UNLIMITED)).isInstanceOf(NoSuchObjectException.class);
            assertThatThrownBy(() -> store.punch(each, 0, 1))
                    .isInstanceOf(NoSuchObjectException.class);
        }
    }

    @Test
    void shouldDoToDataWhatAnArrayDoes() throws Exception {
        var random = new Random(Seed.next());
        byte[] model = new byte[0];
        for (int step = 0; step < 400; step++) {
            int offset = random.nextInt(20_000);
            int count = random.nextInt(1 << random.nextInt(15));
            byte[] data = bytes(random, count);
            switch (random.nextInt(7)) {
                case 0, 1 -> {
                    store.write(OBJECT, offset, MemorySegment.ofArray(data), Growth.UNLIMITED);
                    if (count > 0) {
                        model = Arrays.copyOf(model, Math.max(model.length, offset + count));
                        System.arraycopy(data, 0, model, offset, count);
                    }
                }
                case 2 -> {
                    assertThat(store.append(OBJECT, MemorySegment.ofArray(data),
                            Growth.UNLIMITED)).isEqualTo(model.length);
                    model = Arrays.copyOf(model, model.length + count);
                    System.arraycopy(data, 0, model, model.length - count, count);
                }
                case 3 -> {
                    store.zero(OBJECT, offset, count, Growth.UNLIMITED);
                    if (count > 0) {
                        model = Arrays.copyOf(model, Math.max(model.length, offset + count));
                        Arrays.fill(model, offset, offset + count, (byte) 0);
                    }
                }
                case 4 -> {
                    store.resize(OBJECT, offset, Growth.UNLIMITED);
                    model = Arrays.copyOf(model, offset);
                }
                case 5 -> {
                    store.punch(OBJECT, offset, count);
                    int from = Math.min(offset, model.length);
                    int to = Math.min(offset + count, model.length);
                    byte[] left = Arrays.copyOf(model, model.length - (to - from));
                    System.arraycopy(model, to, left, from, model.length - to);
                    model = left;
                }
                default -> store.flush(OBJECT);
            }
            assertThat(content(OBJECT)).as("step " + step).isEqualTo(model);
            assertThat(used()).isEqualTo(model.length);
        }
        long at = 0;
        for (DataRange range : store.ranges(OBJECT, 0, 1000)) {
            assertThat(range.offset()).isEqualTo(at);
            assertThat(range.length()).isPositive();
            for (long i = at; !range.written() && i < at + range.length(); i++) {
                assertThat(model[(int) i]).isZero();
            }
            at += range.length();
        }
        assertThat(at).isEqualTo(model.length);
    }

    @Test
    void shouldAskBeforeDataGrow() throws Exception {
        var lengths = new ArrayList<Long>();
        Growth<RuntimeException> asked = (object, length, partition, all) -> {
            assertThat(object).isEqualTo(OBJECT);
            assertThat(partition).isEqualTo(all).isEqualTo(length);
            lengths.add(length);
        };
        MemorySegment data = MemorySegment.ofArray(new byte[100]);
        store.write(OBJECT, 0, data, asked);
        store.write(OBJECT, 0, data, asked);
        store.write(OBJECT, 50, data, asked);
        store.append(OBJECT, data, asked);
        store.zero(OBJECT, 0, 10, asked);
        store.zero(OBJECT, 300, 10, asked);
        store.resize(OBJECT, 400, asked);
        store.resize(OBJECT, 10, asked);
        assertThat(lengths).containsExactly(100L, 150L, 250L, 310L, 400L);
        Growth<Refused> refuse = (_, _, _, _) -> {
            throw new Refused();
        };
        assertThatThrownBy(() -> store.write(OBJECT, 0, data, refuse))
                .isInstanceOf(Refused.class);
        assertThatThrownBy(() -> store.append(OBJECT, data, refuse)).isInstanceOf(Refused.class);
        assertThatThrownBy(() -> store.resize(OBJECT, 11, refuse)).isInstanceOf(Refused.class);
        assertThatThrownBy(() -> store.zero(OBJECT, 10, 1, refuse)).isInstanceOf(Refused.class);
        assertThat(store.length(OBJECT)).isEqualTo(10);
        assertThat(used()).isEqualTo(10);
    }

    @Test
    void shouldKeepAQuotaAgainstConcurrentWriters() throws Exception {
        int quota = 50_000;
        Growth<Refused> within = (_, _, partition, _) -> {
            if (partition > quota) {
                throw new Refused();
            }
        };
        var written = new AtomicLong();
        try (var threads = Executors.newFixedThreadPool(4)) {
            var running = new ArrayList<Future<Boolean>>();
            for (int thread = 0; thread < 4; thread++) {
                var mine = new ObjectId(PARTITION, 0x20000 + thread);
                store.change(objects -> {
                    objects.create(mine, ObjectType.USER_OBJECT, 1);
                    return true;
                });
                Callable<Boolean> work = () -> {
                    for (int i = 0; i < 100; i++) {
                        try {
                            store.append(mine, MemorySegment.ofArray(new byte[300]), within);
                            written.addAndGet(300);
                        } catch (Refused _) {
                            assertThat(written.get()).isGreaterThan(quota - 4 * 300);
                        }
                    }
                    return true;
                };
                running.add(threads.submit(work));
            }
            for (Future<Boolean> each : running) {
                assertThat(each.get()).isTrue();
            }
        }
        assertThat(written).hasValue(quota / 300 * 300);
        assertThat(used()).isEqualTo(written.get());
    }

    @Test
    void shouldAppendInTurn() throws Exception {
        try (var threads = Executors.newFixedThreadPool(4)) {
            var running = new ArrayList<Future<List<Long>>>();
            for (int thread = 0; thread < 4; thread++) {
                byte[] data = new byte[500];
                Arrays.fill(data, (byte) (thread + 1));
                Callable<List<Long>> work = () -> {
                    var offsets = new ArrayList<Long>();
                    for (int i = 0; i < 50; i++) {
                        offsets.add(store.append(OBJECT, MemorySegment.ofArray(data),
                                Growth.UNLIMITED));
                    }
                    return offsets;
                };
                running.add(threads.submit(work));
            }
            byte[] whole = new byte[100_000];
            for (int thread = 0; thread < 4; thread++) {
                for (long offset : running.get(thread).get()) {
                    Arrays.fill(whole, (int) offset, (int) offset + 500, (byte) (thread + 1));
                }
            }
            assertThat(content(OBJECT)).isEqualTo(whole);
        }
    }
}
