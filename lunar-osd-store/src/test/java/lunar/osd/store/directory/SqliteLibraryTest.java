package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies of SQLite's native library that killed processes have left. */
class SqliteLibraryTest {
    private static final String COPY = "sqlite-3.1.0-0808473f-libsqlitejdbc.so";

    @TempDir
    Path folder;

    private Path create(String name) throws Exception {
        return Files.createFile(folder.resolve(name));
    }

    @Test
    void shouldDeleteOldCopies() throws Exception {
        Path copy = create(COPY);
        Path lock = create(COPY + ".lck");
        Path ofOtherVersion = create("sqlite-3.2.0-0808473f-libsqlitejdbc.so.lck");
        Path other = create("sqlite-3.1.0-notes.lck");
        SqliteLibrary.deleteCopies(folder, "3.1.0", Instant.now().plus(Duration.ofMinutes(5)));
        assertThat(copy).doesNotExist();
        assertThat(lock).doesNotExist();
        assertThat(ofOtherVersion).exists();
        assertThat(other).exists();
    }

    /** Its process may be about to load it. */
    @Test
    void shouldKeepANewCopy() throws Exception {
        Path copy = create(COPY);
        Path lock = create(COPY + ".lck");
        SqliteLibrary.deleteCopies(folder, "3.1.0", Instant.now());
        assertThat(copy).exists();
        assertThat(lock).exists();
    }

    @Test
    void shouldDoNothingWithoutAFolder() {
        SqliteLibrary.deleteCopies(folder.resolve("none"), "3.1.0", Instant.now());
        assertThat(folder.resolve("none")).doesNotExist();
    }
}
