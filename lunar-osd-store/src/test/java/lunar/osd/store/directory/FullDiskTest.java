package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import lunar.block.NoSpaceException;
import lunar.osd.store.Growth;
import lunar.osd.store.StagedData;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** A store without space: changes fail as a whole, everything else works, and so do changes when there is space. */
class FullDiskTest {
    private static final ObjectId HOME = ObjectId.ofPartition(0x10000);
    private static final ObjectId OBJECT = new ObjectId(0x10000, 0x10000);
    private static final ObjectId OTHER = new ObjectId(0x10000, 0x10001);
    private static final int LENGTH = 50_000;
    private static final int ATTRIBUTES = 1000;
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(120);

    @TempDir
    Path folder;

    private DirectoryObjectStore store;

    @BeforeEach
    void create() throws Exception {
        store = DirectoryObjectStore.open(folder.resolve("store"), StoreOptions.CREATE);
        store.change(objects -> {
            objects.create(HOME, ObjectType.PARTITION, 1);
            objects.create(OBJECT, ObjectType.USER_OBJECT, 1);
            return true;
        });
        store.write(OBJECT, 0, MemorySegment.ofArray(new byte[LENGTH]), Growth.UNLIMITED);
        store.flush();
    }

    @AfterEach
    void close() throws Exception { store.close(); }

    /** Lets the database grow, or not: SQLite fails then as it does on a full disk. */
    private void limitDatabase(boolean full) throws Exception {
        store.change(objects -> {
            Sql sql = ((ObjectChanges) objects).sql;
            long pages = full ? sql.number("PRAGMA page_count") : 1L << 30;
            sql.execute("PRAGMA max_page_count = " + pages);
            return true;
        });
    }

    private void createOther(StagedData data) throws Exception {
        store.change(objects -> {
            objects.create(OTHER, data, 1);
            for (int i = 0; i < ATTRIBUTES; i++) {
                objects.setAttribute(OTHER, new AttributeId(0x10000, i),
                        Bytes.of(new byte[1000]));
            }
            return true;
        });
    }

    /** The store looks for space at times. */
    private void awaitRoom() throws Exception {
        long end = System.nanoTime() + WAIT_NANOS;
        for (;;) {
            try {
                store.change(objects -> {
                    objects.setAttribute(OBJECT, new AttributeId(0x10000, 1),
                            Bytes.of((byte) 1));
                    return true;
                });
                return;
            } catch (NoSpaceException e) {
                assertThat(System.nanoTime() - end).as(e.getMessage()).isNegative();
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private long used() throws Exception {
        return store.<Long, RuntimeException>query(objects -> objects.usedBytes(0));
    }

    private boolean hasOther() throws Exception {
        return store.<Boolean, RuntimeException>query(
                objects -> objects.find(OTHER).isPresent());
    }

    @Test
    void shouldUndoChangesThatTheDatabaseHasNoSpaceFor() throws Exception {
        try (StagedData staged = store.stage()) {
            staged.write(0, MemorySegment.ofArray(new byte[LENGTH]));
            limitDatabase(true);
            assertThatThrownBy(() -> createOther(staged)).isInstanceOf(NoSpaceException.class);
            assertThat(hasOther()).isFalse();
            assertThat(used()).isEqualTo(LENGTH);
            assertThat(store.check()).isEmpty();
            assertThat(store.read(OBJECT, 0, MemorySegment.ofArray(new byte[LENGTH])))
                    .isEqualTo(LENGTH);
            store.flush();

            assertThatThrownBy(() -> createOther(staged)).isInstanceOf(NoSpaceException.class);
            limitDatabase(false);
            awaitRoom();
            createOther(staged);
        }
        assertThat(store.length(OTHER)).isEqualTo(LENGTH);
        assertThat(used()).isEqualTo(LENGTH * 2L);
        store.flush();
        assertThat(store.check()).isEmpty();
    }

    @Test
    void shouldUndoWritesThatFilesHaveNoSpaceFor() throws Exception {
        Path full = Path.of("/dev/full");
        assumeThat(full).as("a device that is full").exists();
        var more = MemorySegment.ofArray(new byte[10]);
        store.write(OBJECT, 0, more, Growth.UNLIMITED); // opens the file
        store.flush(OBJECT); // opens what syncs it
        Path file = dataFile();
        Path aside = folder.resolve("aside");
        Files.move(file, aside);
        Files.createSymbolicLink(file, full);
        openFileAgain();
        assertThatThrownBy(() -> store.write(OBJECT, LENGTH, more, Growth.UNLIMITED))
                .isInstanceOf(NoSpaceException.class);
        assertThatThrownBy(() -> store.append(OBJECT, more, Growth.UNLIMITED))
                .isInstanceOf(NoSpaceException.class);
        assertThatThrownBy(() -> store.write(OBJECT, 0, more, Growth.UNLIMITED))
                .isInstanceOf(NoSpaceException.class);
        assertThatThrownBy(() -> store.resize(OBJECT, LENGTH * 2L, Growth.UNLIMITED))
                .isInstanceOf(NoSpaceException.class);
        assertThat(store.length(OBJECT)).isEqualTo(LENGTH);
        assertThat(used()).isEqualTo(LENGTH);

        Files.delete(file);
        Files.move(aside, file);
        openFileAgain();
        store.write(OBJECT, LENGTH, more, Growth.UNLIMITED);
        store.flush();
        assertThat(store.length(OBJECT)).isEqualTo(LENGTH + 10);
        assertThat(used()).isEqualTo(LENGTH + 10);
        assertThat(store.check()).isEmpty();
    }

    /** Commits fail as long as the space is kept that removals need. */
    @Test
    void shouldKeepSpaceForRemovals() throws Exception {
        store.close();
        var medium = new FullMedium();
        var directory = new StoreDirectory(folder.resolve("store"), medium);
        store = DirectoryObjectStore.open(directory, StoreOptions.EXISTING);
        Files.write(directory.reserve(), new byte[100]);
        medium.noCommits = true;
        medium.noFiles = true;
        assertThatThrownBy(this::removeObject).isInstanceOf(NoSpaceException.class);
        assertThat(directory.reserve()).doesNotExist();
        medium.noCommits = false; // there is the space of the reserve
        assertThatThrownBy(() -> store.write(OBJECT, LENGTH,
                MemorySegment.ofArray(new byte[10]), Growth.UNLIMITED))
                .isInstanceOf(NoSpaceException.class).hasMessageContaining("but for removals");
        removeObject();
        store.maintain();
        assertThatThrownBy(this::createObject).isInstanceOf(NoSpaceException.class);
        medium.noFiles = false;
        store.maintain();
        createObject();
        assertThat(directory.reserve()).exists();
    }

    /** Timestamps need space too: they wait until there is some. */
    @Test
    void shouldReadAndRemoveWhileTimestampsHaveNoSpace() throws Exception {
        store.close();
        var medium = new FullMedium();
        store = DirectoryObjectStore.open(new StoreDirectory(folder.resolve("store"), medium),
                StoreOptions.EXISTING);
        medium.noFiles = true;
        medium.noTimestamps = true;
        for (int i = 0; i < Touches.MAX * 2; i++) {
            store.touch(new ObjectId(0x10000, 0x20000 + i), EnumSet.of(Timestamp.DATA_ACCESSED),
                    2);
        }
        store.touch(HOME, EnumSet.of(Timestamp.DATA_ACCESSED), 2);
        removeObject();
        medium.noFiles = false;
        medium.noTimestamps = false;
        store.maintain();
        store.flush();
        assertThat(store.check()).isEmpty();
    }

    @Test
    void shouldKeepFewTimestampsThatCannotBeWritten() {
        var touches = new Touches();
        for (int i = 0; i <= Touches.LIMIT; i++) {
            var _ = touches.set(new ObjectId(0x10000, 0x20000 + i),
                    EnumSet.of(Timestamp.DATA_ACCESSED), 7);
        }
        for (int i : new int[]{0, Touches.LIMIT - 1, Touches.LIMIT}) {
            long[] times = new long[Timestamp.values().length];
            touches.overlay(new ObjectId(0x10000, 0x20000 + i), times);
            assertThat(times[ObjectRow.index(Timestamp.DATA_ACCESSED)])
                    .isEqualTo(i < Touches.LIMIT ? 7 : 0);
        }
    }

    /** A file system without space, as far as that is said. */
    private static final class FullMedium implements IoSteps {
        private boolean noCommits;
        private boolean noFiles;
        private boolean noTimestamps;

        @Override
        public void file(String step, Path file) throws IOException {
            if (noFiles && step.equals("create")) {
                throw new FileSystemException("", null, "No space left on device");
            }
        }

        @Override
        public void statement(String text) throws SQLiteException {
            if ((noCommits && text.equals("COMMIT"))
                    || (noTimestamps && text.startsWith("UPDATE objects SET created = ifnull"))) {
                throw new SQLiteException("full", SQLiteErrorCode.SQLITE_FULL);
            }
        }
    }

    private void removeObject() throws Exception {
        store.change(objects -> {
            objects.remove(OBJECT);
            return true;
        });
    }

    private void createObject() throws Exception {
        store.change(objects -> {
            objects.create(OTHER, ObjectType.USER_OBJECT, 1);
            return true;
        });
    }

    private Path dataFile() throws IOException {
        try (var files = Files.walk(folder.resolve("store/data"))) {
            return files.filter(Files::isRegularFile).findFirst().orElseThrow();
        }
    }

    /** An interrupt closes the channel of a file, which is then opened again. */
    private void openFileAgain() throws Exception {
        Thread.currentThread().interrupt();
        try {
            store.read(OBJECT, 0, MemorySegment.ofArray(new byte[1]));
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
