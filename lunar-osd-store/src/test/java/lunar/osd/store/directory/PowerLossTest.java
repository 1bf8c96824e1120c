package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import lunar.osd.store.Growth;
import lunar.osd.store.StagedData;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.scsi.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Power losses at their worst: the database is as the flush of any object has made it stable, and each file has only
 * the bytes that the database has as stable.
 */
class PowerLossTest {
    private static final ObjectId HOME = ObjectId.ofPartition(0x10000);
    private static final ObjectId OBJECT = new ObjectId(0x10000, 0x10000);
    private static final ObjectId OTHER = new ObjectId(0x10000, 0x10001);
    private static final ObjectId THIRD = new ObjectId(0x10000, 0x10002);
    private static final int LENGTH = 50_000;

    @TempDir
    Path folder;

    private DirectoryObjectStore store;

    @BeforeEach
    void create() throws Exception {
        store = open("store");
        store.change(objects -> {
            objects.create(HOME, ObjectType.PARTITION, 1);
            objects.create(OBJECT, ObjectType.USER_OBJECT, 1);
            objects.create(OTHER, ObjectType.USER_OBJECT, 1);
            return true;
        });
    }

    @AfterEach
    void close() throws Exception { store.close(); }

    private DirectoryObjectStore open(String name) throws IOException {
        return DirectoryObjectStore.open(folder.resolve(name), StoreOptions.CREATE);
    }

    private static byte[] bytes(int count, int value) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    private static Bytes all(int count, int value) { return Bytes.of(bytes(count, value)); }

    private void write(ObjectId object, long offset, byte[] data) throws Exception {
        store.write(object, offset, MemorySegment.ofArray(data), Growth.UNLIMITED);
    }

    private static Bytes content(DirectoryObjectStore of, ObjectId object) throws Exception {
        byte[] content = new byte[Math.toIntExact(of.length(object))];
        of.read(object, 0, MemorySegment.ofArray(content));
        return Bytes.of(content);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                if (!each.endsWith("lock") && !each.toString().endsWith("-shm")) {
                    Files.copy(each, to.resolve(from.relativize(each).toString()));
                }
            }
        }
    }

    /** Loses power; returns the store as the next start finds it. */
    private DirectoryObjectStore losePower() throws Exception {
        store.flush(OTHER);
        Path image = folder.resolve("image");
        copy(folder.resolve("store"), image);
        var directory = new StoreDirectory(image);
        try (Sql sql = Sql.reading(directory.database())) {
            for (long[] each : sql.all("SELECT data, stable FROM unsynced",
                    row -> new long[]{row.getLong(1), row.getLong(2)})) {
                try (var file = new RandomAccessFile(directory.file(each[0]).toFile(), "rw")) {
                    file.setLength(each[1]);
                }
            }
        }
        return open("image");
    }

    @Test
    void shouldKeepFlushedDataThatArePunched() throws Exception {
        write(OBJECT, 0, bytes(LENGTH, 7));
        store.flush(OBJECT);
        store.punch(OBJECT, 10, 10);
        try (DirectoryObjectStore after = losePower()) {
            assertThat(content(after, OBJECT)).isEqualTo(all(LENGTH - 10, 7));
        }
    }

    @Test
    void shouldKeepFlushedDataThatOutgrowTheDatabase() throws Exception {
        write(OBJECT, 0, bytes(DataStore.SMALL, 7));
        store.flush(OBJECT);
        write(OBJECT, DataStore.SMALL, bytes(10, 8));
        try (DirectoryObjectStore after = losePower()) {
            byte[] content = content(after, OBJECT).toArray();
            assertThat(Bytes.of(Arrays.copyOf(content, DataStore.SMALL)))
                    .isEqualTo(all(DataStore.SMALL, 7));
        }
    }

    @Test
    void shouldKeepFlushedDataOrThoseThatReplaceThem() throws Exception {
        write(OBJECT, 0, bytes(LENGTH, 7));
        store.flush(OBJECT);
        try (StagedData staged = store.stage()) {
            staged.write(0, MemorySegment.ofArray(bytes(LENGTH, 8)));
            store.change(objects -> {
                objects.replaceData(OBJECT, staged);
                return true;
            });
        }
        try (DirectoryObjectStore after = losePower()) {
            assertThat(content(after, OBJECT)).isEqualTo(all(LENGTH, 8));
        }
    }

    @Test
    void shouldKeepFlushedDataOfAPartitionThatReplacesOne() throws Exception {
        write(OBJECT, 0, bytes(LENGTH, 7));
        try (StagedData staged = store.stage()) {
            staged.write(0, MemorySegment.ofArray(bytes(LENGTH, 8)));
            store.change(objects -> {
                objects.remove(HOME);
                objects.create(HOME, ObjectType.PARTITION, 1);
                objects.create(OBJECT, staged, 1);
                objects.create(OTHER, ObjectType.USER_OBJECT, 1);
                return true;
            });
        }
        store.flush(OBJECT);
        try (DirectoryObjectStore after = losePower()) {
            assertThat(content(after, OBJECT)).isEqualTo(all(LENGTH, 8));
        }
    }

    private void create(ObjectId object) throws Exception {
        try (StagedData staged = store.stage()) {
            staged.write(0, MemorySegment.ofArray(bytes(LENGTH, 8)));
            store.change(objects -> {
                objects.create(object, staged, 1);
                return true;
            });
        }
    }

    /** The flush of another object makes the creation stable. */
    @Test
    void shouldCreateAnObjectWithAllOfItsData() throws Exception {
        create(THIRD);
        try (DirectoryObjectStore after = losePower()) {
            assertThat(content(after, THIRD)).isEqualTo(all(LENGTH, 8));
            assertThat(after.check()).isEmpty();
        }
    }

    /** The log may reach the medium by itself, before the file does. */
    @Test
    void shouldRemoveAnObjectWithAPartOfItsData() throws Exception {
        var group = new ObjectId(0x10000, 0x20000);
        create(THIRD);
        store.change(objects -> {
            objects.create(group, ObjectType.COLLECTION, 1);
            objects.addMember(group, THIRD);
            return true;
        });
        for (long left : new long[]{-1, 0, LENGTH / 2, LENGTH}) {
            Path image = folder.resolve("image" + left);
            copy(folder.resolve("store"), image);
            Path file = files(image).getLast();
            if (left < 0) {
                Files.delete(file);
            } else {
                try (var data = new RandomAccessFile(file.toFile(), "rw")) {
                    data.setLength(left);
                }
            }
            boolean whole = left == LENGTH;
            try (DirectoryObjectStore after = open(image.getFileName().toString())) {
                assertThat(after.<Boolean, RuntimeException>query(
                        objects -> objects.find(THIRD).isPresent())).isEqualTo(whole);
                assertThat(after.<Long, RuntimeException>query(
                        objects -> objects.memberCount(group))).isEqualTo(whole ? 1 : 0);
                assertThat(after.<Long, RuntimeException>query(
                        objects -> objects.usedBytes(HOME.partition())))
                        .isEqualTo(whole ? LENGTH : 0);
                assertThat(after.check()).isEmpty();
            }
        }
    }

    @Test
    void shouldKeepTheLengthOfAnObjectThatBecameShorterSinceItWasCreated() throws Exception {
        create(THIRD);
        store.resize(THIRD, DataStore.SMALL * 2L, Growth.UNLIMITED);
        try (DirectoryObjectStore after = losePower()) {
            assertThat(content(after, THIRD)).isEqualTo(all(DataStore.SMALL * 2, 8));
        }
    }

    /** Or a flush would have to sync any number of files. */
    @Test
    void shouldLimitTheFilesOfNewObjectsThatAreNotStable() throws Exception {
        int limit = 128;
        for (int i = 0; i < limit * 2; i++) {
            create(new ObjectId(0x10000, 0x20000 + i));
        }
        try (Sql sql = Sql.reading(new StoreDirectory(folder.resolve("store")).database())) {
            assertThat(sql.number("SELECT count(*) FROM unsynced WHERE stable <= 0"))
                    .isLessThanOrEqualTo(limit + 1L);
        }
    }

    /** A file of which nothing was flushed is lost with its directory entry; its object is empty, not damaged. */
    @Test
    void shouldKeepAnObjectWhoseFileWasNeverFlushed() throws Exception {
        write(OBJECT, 0, bytes(LENGTH, 7));
        store.flush(OTHER);
        Path image = folder.resolve("image");
        copy(folder.resolve("store"), image);
        for (Path each : files(image)) {
            Files.delete(each);
        }
        try (DirectoryObjectStore after = open("image")) {
            assertThat(after.length(OBJECT)).isZero();
            after.write(OBJECT, 0, MemorySegment.ofArray(bytes(LENGTH, 8)), Growth.UNLIMITED);
            assertThat(content(after, OBJECT)).isEqualTo(all(LENGTH, 8));
            assertThat(after.check()).isEmpty();
        }
    }

    /** Nobody would know of the file otherwise if the power loss undid that its identifier was reserved. */
    @Test
    void shouldReserveIdentifiersOfFilesOnStableStorage() throws Exception {
        store.flush();
        store.change(objects -> {
            objects.setTime(OBJECT, Timestamp.CREATED, 2);
            return true;
        });
        long before = flushes();
        write(OBJECT, 0, bytes(LENGTH, 7));
        assertThat(flushes()).isGreaterThan(before);
        try (Sql sql = Sql.reading(new StoreDirectory(folder.resolve("store")).database())) {
            assertThat(sql.number("SELECT count(*) FROM staged")).isPositive();
        }
    }

    private long flushes() throws Exception {
        try (Sql sql = Sql.reading(new StoreDirectory(folder.resolve("store")).database())) {
            return sql.number("SELECT flushes FROM meta");
        }
    }

    private static List<Path> files(Path store) throws IOException {
        try (Stream<Path> all = Files.walk(store.resolve("data"))) {
            return all.filter(Files::isRegularFile).toList();
        }
    }
}
