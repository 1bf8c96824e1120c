package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import lunar.osd.store.Growth;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads change their partitions by random scripts at the same time. */
class ConcurrencyTest {
    private static final int THREADS = 6;
    private static final int STEPS = 250;

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKeepWhatEachThreadDid(boolean virtual) throws Exception {
        long seed = Seed.next();
        List<PartitionModel> models = new ArrayList<>();
        try (ExecutorService threads = virtual
                ? Executors.newVirtualThreadPerTaskExecutor()
                : Executors.newCachedThreadPool();
                DirectoryObjectStore store = DirectoryObjectStore.open(folder,
                        StoreOptions.CREATE)) {
            var running = new ArrayList<Future<PartitionModel>>();
            for (int thread = 0; thread < THREADS; thread++) {
                var model = new PartitionModel(0x10000 + thread);
                var random = new Random(seed + thread);
                running.add(threads.submit(() -> run(store, model, random)));
            }
            for (Future<PartitionModel> each : running) {
                models.add(each.get());
            }
            compare(store, models, seed);
        }
        try (DirectoryObjectStore store = DirectoryObjectStore.open(folder,
                StoreOptions.EXISTING)) {
            compare(store, models, seed);
        }
    }

    /** Steps are not disturbed by interrupts, which the thread keeps. */
    private static PartitionModel run(ObjectStore store, PartitionModel model, Random random)
            throws Exception {
        var done = new AtomicBoolean();
        Thread mine = Thread.currentThread();
        Thread disturber = Thread.ofPlatform().start(() -> {
            while (!done.get()) {
                mine.interrupt();
                LockSupport.parkNanos(1_000_000);
            }
        });
        try {
            for (int i = 0; i < STEPS; i++) {
                ScriptStep step = ScriptStep.next(random, model);
                step.call().on(store);
                step.model().run();
                Thread.interrupted();
            }
        } finally {
            done.set(true);
            while (disturber.isAlive()) {
                Thread.interrupted();
                Thread.yield();
            }
            Thread.interrupted();
        }
        return model;
    }

    private static void compare(DirectoryObjectStore store, List<PartitionModel> models,
            long seed) throws Exception {
        assertThat(store.check()).as("seed " + seed).isEmpty();
        for (PartitionModel model : models) {
            assertThat(PartitionModel.read(store, model.partition).differences(model))
                    .as("seed " + seed).isEmpty();
        }
    }

    /** More objects than files may be open; each has its data nevertheless. */
    @Test
    void shouldCloseFilesThatAreNotUsed() throws Exception {
        int count = OpenFiles.MAX * 2;
        byte[] data = new byte[DataStore.SMALL + 1];
        try (DirectoryObjectStore store = DirectoryObjectStore.open(folder,
                StoreOptions.CREATE)) {
            store.change(objects -> {
                objects.create(ObjectId.ofPartition(0x10000), ObjectType.PARTITION, 1);
                for (int i = 0; i < count; i++) {
                    objects.create(object(i), ObjectType.USER_OBJECT, 1);
                }
                return true;
            });
            Callable<Boolean> work = () -> {
                for (int i = 0; i < count; i++) {
                    store.append(object(i), MemorySegment.ofArray(data),
                            Growth.UNLIMITED);
                }
                return true;
            };
            try (var threads = Executors.newFixedThreadPool(4)) {
                for (Future<Boolean> each : threads.invokeAll(List.of(work, work, work, work))) {
                    assertThat(each.get()).isTrue();
                }
            }
            for (int i = 0; i < count; i++) {
                assertThat(store.length(object(i))).isEqualTo(4L * data.length);
            }
            assertThat(store.<Long, RuntimeException>query(objects -> objects.usedBytes(0)))
                    .isEqualTo(4L * data.length * count);
        }
        try (DirectoryObjectStore store = DirectoryObjectStore.open(folder,
                StoreOptions.EXISTING)) {
            assertThat(store.check()).isEmpty();
            store.query(objects -> {
                assertThat(objects.find(object(count - 1)).orElseThrow().length())
                        .isEqualTo(4L * data.length);
                return true;
            });
        }
    }

    private static ObjectId object(int number) {
        return new ObjectId(0x10000, ObjectId.FIRST + number);
    }

    @Test
    void shouldWriteTouchedTimesAtFlush() throws Exception {
        ObjectId home = ObjectId.ofPartition(0x10000);
        try (DirectoryObjectStore store = DirectoryObjectStore.open(folder,
                StoreOptions.CREATE)) {
            store.change(objects -> {
                objects.create(home, ObjectType.PARTITION, 1);
                return true;
            });
            for (int i = 0; i < Touches.MAX + 10; i++) {
                store.touch(home, Set.of(Timestamp.DATA_ACCESSED), 100 + i);
            }
            store.flush();
        }
        try (DirectoryObjectStore store = DirectoryObjectStore.open(folder,
                StoreOptions.EXISTING)) {
            store.query(objects -> {
                assertThat(objects.find(home).orElseThrow().time(Timestamp.DATA_ACCESSED))
                        .isEqualTo(100 + Touches.MAX + 9);
                return true;
            });
        }
    }
}
