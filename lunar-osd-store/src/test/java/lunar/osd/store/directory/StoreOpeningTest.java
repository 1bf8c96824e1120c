package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the creation of stores. */
class StoreOpeningTest {
    @TempDir
    Path folder;

    /** The first page of the database is written before the transaction that creates its tables. */
    @Test
    void shouldCompleteACreationThatWasInterrupted() throws Exception {
        Path database = folder.resolve("objects.db");
        new StoreDirectory(folder).createFile(database);
        try (Sql sql = Sql.writing(database)) {
            sql.execute("PRAGMA journal_mode = WAL");
        }
        assertThat(database).isNotEmptyFile();
        assertThatThrownBy(() -> DirectoryObjectStore.open(folder, StoreOptions.EXISTING))
                .isInstanceOf(IOException.class).hasMessageContaining("interrupted");
        for (int i = 0; i < 2; i++) {
            try (var store = DirectoryObjectStore.open(folder, StoreOptions.CREATE)) {
                assertThat(store.check()).isEmpty();
            }
        }
    }
}
