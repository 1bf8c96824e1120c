package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import lunar.block.StorageException;
import lunar.osd.store.StagedData;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** Tests what a start does after the process of a store was killed. */
class RecoveryTest {
    private static final ObjectId HOME = ObjectId.ofPartition(0x10000);
    private static final ObjectId OBJECT = new ObjectId(0x10000, 0x10000);

    @TempDir
    Path folder;

    /** Records what is synced, and the commits of changes, in their order. */
    private static final class Recorder implements IoSteps {
        final List<String> events = Collections.synchronizedList(new ArrayList<>());
        private boolean changing;

        @Override
        public void file(String step, Path file) {}

        @Override
        public void synced(Path file) { events.add("synced " + file.getFileName()); }

        @Override
        public synchronized void statement(String text) {
            changing |= text.equals("BEGIN IMMEDIATE");
        }

        @Override
        public synchronized void committed() {
            if (changing) {
                events.add("committed");
            }
            changing = false;
        }
    }

    /** Makes the directory that a killed process leaves in which an object was created with data in a file. */
    private Path killed() throws Exception {
        Path path = folder.resolve("store");
        Path left = folder.resolve("killed");
        try (var store = DirectoryObjectStore.open(new StoreDirectory(path),
                StoreOptions.CREATE); StagedData staged = store.stage()) {
            staged.write(0, MemorySegment.ofArray(new byte[50_000]));
            store.change(objects -> {
                objects.create(HOME, ObjectType.PARTITION, 1);
                objects.create(OBJECT, staged, 1);
                return true;
            });
            SimulatedMedium.copy(path, left, List.of());
        }
        return left;
    }

    /** Or power loss would take the object, although a change after it was acknowledged as stable. */
    @Test
    void shouldSyncTheDataOfCreatedObjectsBeforeTheFirstStableCommit() throws Exception {
        Path left = killed();
        var recorder = new Recorder();
        try (var _ = DirectoryObjectStore.open(new StoreDirectory(left, recorder),
                new StoreOptions(false, true)); var files = Files.walk(left.resolve("data"))) {
            Path data = files.filter(Files::isRegularFile).findFirst().orElseThrow();
            assertThat(recorder.events.subList(0, recorder.events.indexOf("committed")))
                    .contains("synced " + data.getFileName());
        }
    }

    /** Fails one statement. */
    private static final class FailingStatement implements IoSteps {
        private int left;

        FailingStatement(int number) { left = number; }

        @Override
        public synchronized void statement(String text) throws SQLException {
            if (--left == 0) {
                throw new SQLiteException("test", SQLiteErrorCode.SQLITE_IOERR);
            }
        }
    }

    @Test
    void shouldCloseEverythingWhenAStartFails() throws Exception {
        Path left = killed();
        int failed = 0;
        boolean started = false;
        while (!started) {
            var medium = new StoreDirectory(left, new FailingStatement(1 + 8 * failed));
            try (var _ = DirectoryObjectStore.open(medium, new StoreOptions(false, false))) {
                started = true;
            } catch (StorageException _) {
                failed++;
            }
            assertThat(OpenDescriptors.under(folder)).isEmpty();
        }
        assertThat(failed).isGreaterThan(5);
    }
}
