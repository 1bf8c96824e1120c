package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.AbortedException;
import lunar.block.BusyException;
import lunar.block.MediumException;
import lunar.osd.store.Growth;
import lunar.osd.store.StagedData;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the files of a store, and what it remembers of them. */
class OpenFilesTest {
    private static final ObjectId HOME = ObjectId.ofPartition(0x10000);
    private static final ObjectId OBJECT = new ObjectId(0x10000, 0x10000);
    private static final int LENGTH = 50_000;

    @TempDir
    Path folder;

    @BeforeEach
    void create() throws Exception {
        try (DirectoryObjectStore store = open()) {
            store.change(objects -> {
                objects.create(HOME, ObjectType.PARTITION, 1);
                objects.create(OBJECT, ObjectType.USER_OBJECT, 1);
                return true;
            });
            store.write(OBJECT, 0, MemorySegment.ofArray(new byte[LENGTH]), Growth.UNLIMITED);
        }
    }

    private DirectoryObjectStore open() throws IOException {
        return DirectoryObjectStore.open(folder.resolve("store"), StoreOptions.CREATE);
    }

    /** A file that is missing because it was removed is no loss. */
    @Test
    void shouldFlushAfterAPartitionOfEmptyFilesWasCleared() throws Exception {
        try (DirectoryObjectStore store = open()) {
            store.resize(OBJECT, 0, Growth.UNLIMITED);
            store.change(objects -> {
                objects.clear();
                return true;
            });
            try (var files = Files.walk(folder.resolve("store/data"))) {
                for (Path each : (Iterable<Path>) files::iterator) {
                    while (Files.isRegularFile(each)) {
                        Thread.sleep(1); // housekeeping deletes it
                    }
                }
            }
            store.flush();
        }
    }

    @Test
    void shouldOpenFilesForAnInterruptedThread() throws Exception {
        try (DirectoryObjectStore store = open()) {
            Thread.currentThread().interrupt();
            int count;
            try {
                count = store.read(OBJECT, 0, MemorySegment.ofArray(new byte[LENGTH]));
            } finally {
                assertThat(Thread.interrupted()).isTrue();
            }
            assertThat(count).isEqualTo(LENGTH);
        }
    }

    /** Data that is written is known to the database, or the next flush would not make it stable. */
    @Test
    void shouldNotWriteOnTheStrengthOfAnUncommittedChange() throws Exception {
        Path database = new StoreDirectory(folder.resolve("store")).database();
        try (Sql sql = Sql.writing(database)) {
            sql.execute("CREATE TRIGGER failing BEFORE INSERT ON attributes"
                    + " BEGIN SELECT RAISE(ABORT, 'failing'); END");
        }
        try (DirectoryObjectStore store = open(); Sql sql = Sql.reading(database)) {
            var begun = new CountDownLatch(1);
            var end = new CountDownLatch(1);
            CompletableFuture<Throwable> first = start(() -> store.change(_ -> {
                begun.countDown();
                end.await();
                return true;
            }));
            begun.await();
            CompletableFuture<Throwable> marking = start(() -> write(store));
            var writing = new AtomicReference<CompletableFuture<Throwable>>();
            CompletableFuture<Throwable> failing = start(() -> store.change(objects -> {
                writing.set(start(() -> write(store)));
                objects.setAttribute(OBJECT, new AttributeId(0x10000, 1), Bytes.of((byte) 1));
                return true;
            }));
            end.countDown();
            assertThat(first.get()).isNull();
            assertThat(marking.get()).isInstanceOf(MediumException.class);
            assertThat(failing.get()).isInstanceOf(MediumException.class);
            assertThat(writing.get().get()).isNull();
            assertThat(sql.number("SELECT count(*) FROM unsynced")).isEqualTo(1);
        }
    }

    /** Lengths that cannot be saved, such as on a full disk, keep files open. */
    @Test
    void shouldReadWhileLengthsCannotBeSaved() throws Exception {
        int count = OpenFiles.MAX + OpenFiles.MAX / 4;
        Path database = new StoreDirectory(folder.resolve("store")).database();
        try (DirectoryObjectStore store = open(); Sql sql = Sql.writing(database)) {
            store.change(objects -> {
                for (int i = 0; i < count; i++) {
                    objects.create(object(i), ObjectType.USER_OBJECT, 1);
                }
                return true;
            });
            for (int length = LENGTH; length <= LENGTH + 1; length++) {
                for (int i = 0; i < count; i++) {
                    store.resize(object(i), length, Growth.UNLIMITED);
                }
            }
            sql.execute("CREATE TRIGGER failing BEFORE UPDATE OF length ON objects"
                    + " BEGIN SELECT RAISE(ABORT, 'failing'); END");
            for (int i = 0; i < count; i++) {
                assertThat(store.read(object(i), LENGTH, MemorySegment.ofArray(new byte[10])))
                        .isEqualTo(1);
            }
            sql.execute("DROP TRIGGER failing");
            assertThat(store.check()).isEmpty();
        }
        try (DirectoryObjectStore store = open()) {
            assertThat(store.check()).isEmpty();
            assertThat(store.length(object(0))).isEqualTo(LENGTH + 1);
        }
    }

    private static ObjectId object(int number) { return new ObjectId(0x10000, 0x20000 + number); }

    /** A file that cannot be opened for a moment, such as while too many are open, is not lost. */
    @Test
    void shouldFlushAgainAfterAFileCouldNotBeOpened() throws Exception {
        ObjectId created = object(0);
        Path killed = folder.resolve("killed");
        try (DirectoryObjectStore store = open()) {
            create(store, created);
            SimulatedMedium.copy(folder.resolve("store"), killed, List.of());
        }
        try (DirectoryObjectStore store = DirectoryObjectStore.open(killed,
                StoreOptions.EXISTING)) {
            Path file = newest(killed);
            Path aside = folder.resolve("aside");
            Files.move(file, aside);
            Files.createDirectory(file); // which cannot be opened to be written
            assertThatThrownBy(() -> store.flush(created)).isInstanceOf(MediumException.class);
            Files.delete(file);
            Files.move(aside, file);
            store.flush(created);
            store.flush();
        }
    }

    private static void create(DirectoryObjectStore store, ObjectId object) throws Exception {
        try (StagedData staged = store.stage()) {
            staged.write(0, MemorySegment.ofArray(new byte[LENGTH]));
            store.change(objects -> {
                objects.create(object, staged, 1);
                return true;
            });
        }
    }

    /** Or the kernel could forget that it could not write the file back. */
    @Test
    void shouldHaveAFileOpenUntilItIsSynced() throws Exception {
        try (DirectoryObjectStore store = open()) {
            create(store, object(0));
            Path file = newest(folder.resolve("store"));
            assertThat(OpenDescriptors.under(folder.resolve("store/data"))).contains(file);
            store.flush();
            assertThat(OpenDescriptors.under(folder.resolve("store/data"))).doesNotContain(file);
        }
    }

    @Test
    void shouldHaveFilesOpenUntilTheyAreSyncedButNotTooMany() throws Exception {
        int count = OpenFiles.MAX + OpenFiles.MAX_UNSYNCED + 100;
        Path stable = newest(folder.resolve("store"));
        Set<Path> synced = ConcurrentHashMap.newKeySet();
        var steps = new IoSteps() {
            @Override
            public void synced(Path file) { synced.add(file); }
        };
        try (DirectoryObjectStore store = DirectoryObjectStore.open(
                new StoreDirectory(folder.resolve("store"), steps), StoreOptions.EXISTING)) {
            store.change(objects -> {
                for (int i = 0; i < count; i++) {
                    objects.create(object(i), ObjectType.USER_OBJECT, 1);
                }
                return true;
            });
            for (int i = 0; i < count; i++) {
                store.resize(object(i), LENGTH, Growth.UNLIMITED);
                assertThat(store.read(object(i), 0, MemorySegment.ofArray(new byte[1]))).isOne();
            }
            Set<Path> open = OpenDescriptors.under(folder.resolve("store/data"));
            open.add(stable);
            assertThat(open).hasSizeLessThanOrEqualTo(OpenFiles.MAX + OpenFiles.MAX_UNSYNCED + 2);
            try (var files = Files.walk(folder.resolve("store/data"))) {
                assertThat(files.filter(Files::isRegularFile).filter(each -> !open.contains(each)))
                        .hasSizeGreaterThan(50).allMatch(synced::contains);
            }
        }
    }

    private static Path newest(Path store) throws IOException {
        try (var files = Files.walk(store.resolve("data"))) {
            return files.filter(Files::isRegularFile).max(Comparator.naturalOrder())
                    .orElseThrow();
        }
    }

    /** Another process may open the store then. */
    @Test
    void shouldBeOpenUntilWritesHaveEnded() throws Exception {
        DirectoryObjectStore store = open();
        write(store); // so that the next write need not mark the file
        var begun = new CountDownLatch(1);
        var end = new CountDownLatch(1);
        Growth<InterruptedException> waiting = (_, _, _, _) -> {
            begun.countDown();
            end.await();
        };
        CompletableFuture<Throwable> writing = start(() -> {
            store.write(OBJECT, LENGTH, MemorySegment.ofArray(new byte[10]), waiting);
            return true;
        });
        begun.await();
        Thread closing = Thread.ofPlatform().start(() -> {
            try {
                store.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        while (closing.isAlive() && Arrays.stream(closing.getStackTrace())
                .noneMatch(frame -> frame.getMethodName().equals("freeze"))) {
            Thread.sleep(1);
        }
        try {
            assertThatThrownBy(() -> open().close()).isInstanceOf(BusyException.class);
        } finally {
            end.countDown();
        }
        closing.join();
        assertThat(writing.get()).isNull();
        try (DirectoryObjectStore after = open()) {
            assertThat(after.length(OBJECT)).isEqualTo(LENGTH + 10);
            assertThat(after.check()).isEmpty();
        }
    }

    @Test
    void shouldKeepHolesWherePunchMovesData() throws Exception {
        long length = 64L << 20;
        try (DirectoryObjectStore store = open()) {
            store.write(OBJECT, length, MemorySegment.ofArray(new byte[]{1, 2}),
                    Growth.UNLIMITED);
            store.punch(OBJECT, 0, 1);
            assertThat(store.length(OBJECT)).isEqualTo(length + 1);
            byte[] end = new byte[3];
            assertThat(store.read(OBJECT, length - 2, MemorySegment.ofArray(end))).isEqualTo(3);
            assertThat(end).containsExactly(0, 1, 2);
            store.punch(OBJECT, length - 1, 2);
            store.resize(OBJECT, length, Growth.UNLIMITED);
            store.punch(OBJECT, 1, 1); // zeros alone
            assertThat(store.length(OBJECT)).isEqualTo(length - 1);
            assertThat(kilobytesOnDisk(newest(folder.resolve("store")))).isLessThan(length >> 12);
        }
    }

    /** The flush of everything finds a file that is deleted the moment after. */
    @Test
    void shouldTellThatAFileWasDeletedBeforeItWasSynced() throws Exception {
        var directory = new StoreDirectory(Files.createDirectory(folder.resolve("files")));
        directory.create(1);
        DataFile file = DataFile.open(OBJECT, 1, directory);
        directory.delete(1);
        try {
            assertThatThrownBy(file::sync).isInstanceOf(NoSuchFileException.class);
        } finally {
            file.close();
        }
    }

    @Test
    void shouldAbortLongEdits() throws Exception {
        long length = 64L << 20;
        try (DirectoryObjectStore store = open()) {
            store.write(OBJECT, length, MemorySegment.ofArray(new byte[]{1, 2}),
                    Growth.UNLIMITED);
            var asked = new AtomicInteger();
            assertThatThrownBy(() -> store.punch(OBJECT, 0, 1, () -> asked.incrementAndGet() > 3))
                    .isInstanceOf(AbortedException.class);
            assertThat(asked).hasValue(4);
            assertThatThrownBy(() -> store.zero(OBJECT, 0, length * 2, Growth.UNLIMITED,
                    () -> asked.incrementAndGet() > 6)).isInstanceOf(AbortedException.class);
            assertThat(asked).hasValue(7);
            assertThat(store.length(OBJECT)).isEqualTo(length + 2);
            byte[] end = new byte[2];
            store.read(OBJECT, length, MemorySegment.ofArray(end));
            assertThat(end).containsExactly(1, 2);
            assertThat(store.<Long, RuntimeException>query(objects -> objects.usedBytes(0)))
                    .isEqualTo(length + 2);
            assertThat(store.check()).isEmpty();
        }
    }

    private static long kilobytesOnDisk(Path file) throws Exception {
        Process process = new ProcessBuilder("du", "-k", file.toString()).start();
        String[] fields = new String(process.getInputStream().readAllBytes(),
                StandardCharsets.UTF_8).split("\\s+", 2);
        assertThat(process.waitFor()).isZero();
        return Long.parseLong(fields[0]);
    }

    private static boolean write(DirectoryObjectStore store) throws Exception {
        store.write(OBJECT, 0, MemorySegment.ofArray(new byte[10]), Growth.UNLIMITED);
        return true;
    }

    /** Starts a task on a thread, and returns when it waits or has ended; the result is what it throws, or null. */
    private static CompletableFuture<Throwable> start(Callable<?> task)
            throws InterruptedException {
        var result = new CompletableFuture<Throwable>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                task.call();
                result.complete(null);
            } catch (Throwable e) {
                result.complete(e);
            }
        });
        while (thread.isAlive() && thread.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        return result;
    }
}
