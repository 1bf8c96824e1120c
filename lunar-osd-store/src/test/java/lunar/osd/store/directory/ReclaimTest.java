package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import lunar.osd.store.Growth;
import lunar.osd.store.NoSuchObjectException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Removal of partitions with many objects: a small change, after which their rows and files are deleted. */
class ReclaimTest {
    private static final ObjectId HOME = ObjectId.ofPartition(0x10000);
    private static final ObjectId COLLECTION = new ObjectId(0x10000, 0x5_0000);
    private static final int OBJECTS = 2000;
    private static final int FILES = 20;
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(120);
    private static final String[] TABLES = {"attributes", "members", "small", "dropped",
            "removed"};

    @TempDir
    Path folder;

    private DirectoryObjectStore store;

    @BeforeEach
    void create() throws Exception {
        store = open("store");
        store.change(objects -> {
            objects.create(HOME, ObjectType.PARTITION, 1);
            objects.create(COLLECTION, ObjectType.COLLECTION, 1);
            for (int i = 0; i < OBJECTS; i++) {
                objects.create(object(i), ObjectType.USER_OBJECT, 1);
                objects.setAttribute(object(i), new AttributeId(0x10000, 1),
                        Bytes.of((byte) i));
                objects.addMember(COLLECTION, object(i));
            }
            return true;
        });
        for (int i = 0; i < FILES * 2; i++) { // half of them small
            store.write(object(i), 0, MemorySegment.ofArray(
                    new byte[DataStore.SMALL + i % 2 * 1000]), Growth.UNLIMITED);
        }
    }

    @AfterEach
    void close() throws Exception { store.close(); }

    private DirectoryObjectStore open(String name) throws IOException {
        return DirectoryObjectStore.open(folder.resolve(name), StoreOptions.CREATE);
    }

    private static ObjectId object(int number) { return new ObjectId(0x10000, 0x10000 + number); }

    /** Returns the rows that the change wrote. */
    private long remove(boolean all) throws Exception {
        return store.change(objects -> {
            Sql sql = ((ObjectChanges) objects).sql;
            long before = sql.changedRows();
            if (all) {
                objects.clear();
            } else {
                objects.remove(HOME);
            }
            return sql.changedRows() - before;
        });
    }

    private static long rows(Path of, String table) throws Exception {
        try (Sql sql = Sql.reading(of.resolve("objects.db"))) {
            return sql.number("SELECT count(*) FROM " + table);
        }
    }

    private static long files(Path of) throws IOException {
        try (Stream<Path> all = Files.walk(of.resolve("data"))) {
            return all.filter(Files::isRegularFile).count();
        }
    }

    private static void awaitNothing(Path of) throws Exception {
        long end = System.nanoTime() + WAIT_NANOS;
        for (String table : TABLES) {
            while (rows(of, table) > 0) {
                assertThat(System.nanoTime() - end).as(table).isNegative();
                LockSupport.parkNanos(1_000_000);
            }
        }
        assertThat(rows(of, "objects")).as("objects: the root").isEqualTo(1);
        assertThat(files(of)).isZero();
    }

    private void assertThatNothingIsLeft() throws Exception {
        store.query(objects -> {
            assertThat(objects.find(HOME)).isEmpty();
            assertThat(objects.find(object(1))).isEmpty();
            assertThat(objects.partitionCount()).isZero();
            assertThat(objects.usedBytes(0)).isZero();
            return true;
        });
        assertThatThrownBy(() -> store.length(object(1)))
                .isInstanceOf(NoSuchObjectException.class);
        assertThat(store.check()).isEmpty();
    }

    @Test
    void shouldRemoveAPartitionByASmallChange() throws Exception {
        assertThat(remove(false)).isLessThan(FILES * 2L); // that are unsynced
        assertThatNothingIsLeft();
        awaitNothing(folder.resolve("store"));
        assertThat(store.check()).isEmpty();
    }

    @Test
    void shouldClearByASmallChange() throws Exception {
        assertThat(remove(true)).isLessThan(FILES * 2L);
        assertThatNothingIsLeft();
        awaitNothing(folder.resolve("store"));
        assertThat(store.check()).isEmpty();
    }

    /** The process ends while the rest is there. */
    @Test
    void shouldContinueAtTheNextStart() throws Exception {
        Path image = folder.resolve("image");
        store.change(objects -> {
            objects.remove(HOME);
            return true;
        });
        store.change(_ -> { // while nothing is changed otherwise
            copy(folder.resolve("store"), image);
            return true;
        });
        assertThat(rows(image, "removed")).isEqualTo(1);
        try (DirectoryObjectStore after = open("image")) {
            assertThat(after.check()).isEmpty();
            assertThat(after.<Long, RuntimeException>query(objects -> objects.usedBytes(0)))
                    .isZero();
            awaitNothing(image);
            assertThat(after.check()).isEmpty();
        }
    }

    private static void copy(Path from, Path to) {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                if (!each.endsWith("lock") && !each.toString().endsWith("-shm")) {
                    Files.copy(each, to.resolve(from.relativize(each).toString()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
