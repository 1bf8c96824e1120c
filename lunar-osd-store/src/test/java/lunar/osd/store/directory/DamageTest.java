package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import lunar.block.BusyException;
import lunar.block.MediumException;
import lunar.osd.store.Growth;
import lunar.osd.store.StagedData;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import lunar.testkit.CapturedLog;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores that are damaged, in use, or none. */
class DamageTest {
    private static final ObjectId HOME = ObjectId.ofPartition(0x10000);
    private static final ObjectId OBJECT = new ObjectId(0x10000, 0x10000);
    private static final ObjectId OTHER = new ObjectId(0x10000, 0x10001);
    private static final int LENGTH = 50_000;

    @TempDir
    Path folder;

    private Path store;

    @BeforeEach
    void create() throws Exception {
        store = folder.resolve("store");
        byte[] data = new byte[LENGTH];
        Arrays.fill(data, (byte) 7);
        try (DirectoryObjectStore made = open(StoreOptions.CREATE)) {
            made.change(objects -> {
                objects.create(HOME, ObjectType.PARTITION, 1);
                objects.create(OBJECT, ObjectType.USER_OBJECT, 1);
                objects.create(OTHER, ObjectType.USER_OBJECT, 1);
                for (int i = 0; i < 500; i++) {
                    objects.setAttribute(OBJECT, new AttributeId(0x10000, i),
                            Bytes.of(new byte[200]));
                }
                return true;
            });
            made.write(OBJECT, 0, MemorySegment.ofArray(data), Growth.UNLIMITED);
            made.write(OTHER, 0, MemorySegment.ofArray(data), Growth.UNLIMITED);
        }
    }

    private DirectoryObjectStore open(StoreOptions options) throws IOException {
        return DirectoryObjectStore.open(store, options);
    }

    private List<Path> dataFiles() throws IOException {
        try (Stream<Path> all = Files.walk(store.resolve("data"))) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private void assertThatOneIsDamaged(String problem) throws IOException {
        try (DirectoryObjectStore damaged = open(StoreOptions.EXISTING)) {
            var into = MemorySegment.ofArray(new byte[100]);
            try (var log = new CapturedLog(DataStore.class.getName())) {
                assertThatThrownBy(() -> damaged.read(OBJECT, 0, into))
                        .isInstanceOf(MediumException.class).hasMessageContaining(problem);
                assertThatThrownBy(() -> damaged.write(OBJECT, 0, into, Growth.UNLIMITED))
                        .isInstanceOf(MediumException.class);
                assertThat(log.linesWith("damaged")).hasSize(1).first().asString()
                        .contains(problem);
            }
            assertThat(damaged.read(OTHER, 0, into)).isEqualTo(100);
            assertThat(damaged.check()).hasSize(1);
            damaged.change(objects -> {
                objects.remove(OBJECT);
                return true;
            });
            assertThat(damaged.check()).isEmpty();
        }
    }

    @Test
    void shouldReportATruncatedFile() throws Exception {
        try (var file = new RandomAccessFile(dataFiles().getFirst().toFile(), "rw")) {
            file.setLength(LENGTH - 1);
        }
        assertThatOneIsDamaged("has 49999 bytes instead of 50000");
    }

    @Test
    void shouldReportAMissingFile() throws Exception {
        Files.delete(dataFiles().getFirst());
        assertThatOneIsDamaged("is missing");
    }

    /** Files that are yet to be synced after a crash, one of which is lost while the store is open. */
    @Test
    void shouldFlushOtherObjectsWhenAFileIsMissing() throws Exception {
        var created = new ObjectId(0x10000, 0x10002);
        Path copy = folder.resolve("copy");
        try (DirectoryObjectStore open = open(StoreOptions.EXISTING);
                StagedData staged = open.stage()) {
            open.write(OTHER, LENGTH, MemorySegment.ofArray(new byte[10]), Growth.UNLIMITED);
            staged.write(0, MemorySegment.ofArray(new byte[LENGTH]));
            open.change(objects -> {
                objects.create(created, staged, 1);
                return true;
            });
            copy(store, copy);
        }
        store = copy;
        var into = MemorySegment.ofArray(new byte[10]);
        try (DirectoryObjectStore open = open(StoreOptions.EXISTING);
                var log = new CapturedLog(DataStore.class.getName())) {
            Files.delete(dataFiles().getLast());
            open.flush(OTHER);
            open.flush();
            open.flush();
            assertThat(log.linesWith("damaged")).hasSize(1).first().asString()
                    .contains(created.toString(), "is missing");
            assertThatThrownBy(() -> open.flush(created)).isInstanceOf(MediumException.class);
            assertThatThrownBy(() -> open.read(created, 0, into))
                    .isInstanceOf(MediumException.class);
        }
        try (DirectoryObjectStore open = open(StoreOptions.EXISTING)) {
            assertThat(open.length(OTHER)).isEqualTo(LENGTH + 10);
            assertThatThrownBy(() -> open.read(created, 0, into))
                    .isInstanceOf(MediumException.class);
        }
    }

    /** After a crash lengths are taken from files; not below what was flushed. */
    @Test
    void shouldReportATruncatedFileThatWasFlushed() throws Exception {
        Path copy = folder.resolve("copy");
        try (DirectoryObjectStore open = open(StoreOptions.EXISTING)) {
            open.write(OBJECT, LENGTH, MemorySegment.ofArray(new byte[10]), Growth.UNLIMITED);
            open.flush(OBJECT);
            open.write(OBJECT, LENGTH + 10, MemorySegment.ofArray(new byte[10]),
                    Growth.UNLIMITED);
            copy(store, copy); // as a crash would leave it
        }
        store = copy;
        Path file = dataFiles().getFirst();
        try (var truncated = new RandomAccessFile(file.toFile(), "rw")) {
            truncated.setLength(LENGTH + 12);
        }
        try (DirectoryObjectStore open = open(StoreOptions.EXISTING)) {
            assertThat(open.length(OBJECT)).isEqualTo(LENGTH + 12);
            assertThat(open.check()).isEmpty();
            open.write(OBJECT, 0, MemorySegment.ofArray(new byte[10]), Growth.UNLIMITED);
            open.flush(OBJECT);
            copy(store, folder.resolve("again"));
        }
        store = folder.resolve("again");
        try (var truncated = new RandomAccessFile(dataFiles().getFirst().toFile(), "rw")) {
            truncated.setLength(LENGTH + 11);
        }
        assertThatOneIsDamaged("instead of " + (LENGTH + 12));
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Path target = to.resolve(from.relativize(each).toString());
                if (!each.endsWith("lock") && !each.toString().endsWith("-shm")) {
                    Files.copy(each, target);
                }
            }
        }
    }

    private static Map<Path, Bytes> content(Path folder) throws IOException {
        var content = new HashMap<Path, Bytes>();
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
                if (!each.endsWith("lock")) {
                    content.put(each, Bytes.of(Files.readAllBytes(each)));
                }
            }
        }
        return content;
    }

    private void assertThatItIsRefused(StoreOptions options, String... reasons)
            throws IOException {
        Map<Path, Bytes> before = content(store);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> open(options)).isInstanceOf(IOException.class)
                    .hasMessageContainingAll(reasons);
        }
        Map<Path, Bytes> after = content(store);
        after.keySet().removeIf(path -> path.toString().matches(".*-(shm|wal)")
                && !before.containsKey(path));
        assertThat(after).isEqualTo(before);
    }

    @Test
    void shouldRefuseADamagedDatabase() throws Exception {
        Path database = store.resolve("objects.db");
        long size = Files.size(database);
        var refused = new ArrayList<Long>();
        for (long page = 1; page < size / 4096; page++) {
            byte[] whole = Files.readAllBytes(database);
            byte[] damaged = whole.clone();
            Arrays.fill(damaged, (int) page * 4096, (int) page * 4096 + 4096, (byte) 0x5a);
            Files.write(database, damaged);
            try {
                open(StoreOptions.EXISTING).close();
            } catch (IOException e) {
                assertThat(e).hasMessageContainingAll("is damaged", "nothing was changed",
                        "restore the directory from a backup");
                assertThat(Files.readAllBytes(database)).isEqualTo(damaged);
                refused.add(page);
            }
            Files.write(database, whole);
        }
        assertThat(refused).as("pages, all but those that are free")
                .hasSizeGreaterThan((int) (size / 4096) / 2);
        open(StoreOptions.EXISTING).close();
    }

    @Test
    void shouldRefuseAFileThatIsNoDatabase() throws Exception {
        Files.writeString(store.resolve("objects.db"), "not a database, but long enough for one");
        assertThatItIsRefused(StoreOptions.CREATE, "is damaged", "no SQLite database");
    }

    @Test
    void shouldRefuseANewerVersion() throws Exception {
        try (Sql sql = Sql.writing(store.resolve("objects.db"))) {
            sql.execute("PRAGMA user_version = 7");
        }
        assertThatItIsRefused(StoreOptions.CREATE, "format version 7", "knows version 2",
                "newer");
    }

    @Test
    void shouldRefuseADatabaseOfAnotherProgram() throws Exception {
        try (Sql sql = Sql.writing(store.resolve("objects.db"))) {
            sql.execute("PRAGMA application_id = 7");
        }
        assertThatItIsRefused(StoreOptions.CREATE, "another program");
    }

    @Test
    void shouldRefuseADirectoryOfOtherFiles() throws Exception {
        store = Files.createDirectory(folder.resolve("other"));
        Files.writeString(store.resolve("notes"), "x");
        assertThatItIsRefused(StoreOptions.CREATE, "is no object store", "notes");
        assertThatItIsRefused(StoreOptions.EXISTING, "is no object store");
        assertThat(store.resolve("lock")).doesNotExist();
        store = folder.resolve("nothing");
        assertThatThrownBy(() -> open(StoreOptions.EXISTING)).isInstanceOf(IOException.class)
                .hasMessageContaining("there is no object store");
        assertThat(store).doesNotExist();
    }

    @Test
    void shouldNameTheProcessThatHasTheStore() throws Exception {
        Process other = CrashWriter.start(store, 1, false);
        try {
            assertThat(other.getInputStream().readNBytes(5)).isEqualTo("open\n".getBytes());
            Thread.ofVirtual().start(() -> {
                try {
                    other.getInputStream().transferTo(OutputStream.nullOutputStream());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            assertThatThrownBy(() -> open(StoreOptions.CREATE)).isInstanceOf(BusyException.class)
                    .hasMessageContainingAll("in use by process " + other.pid(), "only once");
        } finally {
            other.toHandle().destroyForcibly();
            other.waitFor();
        }
        open(StoreOptions.EXISTING).close();
    }

    @Test
    void shouldBeOpenOnceInAProcess() throws Exception {
        try (DirectoryObjectStore first = open(StoreOptions.EXISTING)) {
            assertThatThrownBy(() -> open(StoreOptions.EXISTING))
                    .isInstanceOf(BusyException.class).hasMessageContaining("in this process");
            Process other = CrashWriter.start(store, 1, false); // the attempt has not released the lock
            assertThat(other.waitFor()).isEqualTo(1);
            assertThat(first.length(OBJECT)).isEqualTo(LENGTH);
        }
        open(StoreOptions.EXISTING).close();
    }

    @Test
    void shouldBePrivate() throws Exception {
        try (DirectoryObjectStore open = open(StoreOptions.EXISTING)) {
            open.write(OBJECT, 0, MemorySegment.ofArray(new byte[10]), Growth.UNLIMITED);
            try (Stream<Path> all = Files.walk(store)) {
                for (Path each : (Iterable<Path>) all::iterator) {
                    assertThat(PosixFilePermissions
                            .toString(Files.getPosixFilePermissions(each))).as(each.toString())
                            .isEqualTo(Files.isDirectory(each) ? "rwx------" : "rw-------");
                }
            }
        }
    }
}
