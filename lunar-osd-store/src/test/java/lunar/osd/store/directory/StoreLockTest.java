package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import lunar.block.BusyException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a directory is open only once, however its path is spelled. */
class StoreLockTest {
    @TempDir
    Path folder;

    @Test
    void shouldAdviseOneSpellingOfAPath() throws Exception {
        Path directory = Files.createDirectory(folder.resolve("store"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), directory);
        try (var _ = DirectoryObjectStore.open(directory, StoreOptions.CREATE)) {
            assertThatThrownBy(() -> DirectoryObjectStore.open(link, StoreOptions.CREATE))
                    .isInstanceOf(BusyException.class)
                    .hasMessageContaining("is already open in this process")
                    .hasMessageContaining("write the path identically");
        }
    }
}
