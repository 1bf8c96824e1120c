package lunar.osd.store.directory;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import lunar.osd.store.Growth;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
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
}
