package lunar.osd.store.directory;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.sqlite.SQLiteJDBCLoader;

/**
 * The native library of SQLite, of which the driver unpacks a copy into a temporary directory for each process. A
 * process that is killed leaves its copy behind, with a lock file that keeps the driver from deleting it.
 */
final class SqliteLibrary {
    /** Age from which on a copy is loaded by its process, or never. */
    private static final Duration UNPACKED = Duration.ofMinutes(1);
    private static final String LOCK = ".lck";

    private static boolean loaded;

    private SqliteLibrary() {}

    /** Loads the library, after the deletion of copies that processes may have left; once for each process. */
    static synchronized void load() throws IOException {
        if (loaded) {
            return;
        }
        Path folder = Path.of(System.getProperty("org.sqlite.tmpdir",
                System.getProperty("java.io.tmpdir", ".")));
        try {
            deleteCopies(folder, SQLiteJDBCLoader.getVersion(), Instant.now());
            if (SQLiteJDBCLoader.initialize()) {
                loaded = true;
                return;
            }
            throw new IOException("not loaded");
        } catch (Exception | LinkageError e) { // the loader declares Exception
            throw new IOException("the native library of SQLite cannot be loaded from " + folder
                    + " (" + e.getMessage() + "): if that is mounted noexec or not writable, set"
                    + " -Dorg.sqlite.tmpdir= to a directory from which libraries can be loaded", e);
        }
    }

    /**
     * Deletes copies of a version that have been there for a minute. A process that has loaded one keeps it: the file
     * has no name any longer then, or it cannot be deleted, as on Windows.
     */
    static void deleteCopies(Path folder, String version, Instant now) {
        try (DirectoryStream<Path> locks = Files.newDirectoryStream(folder,
                "sqlite-" + version + "-*sqlitejdbc*" + LOCK)) {
            for (Path lock : locks) {
                String name = lock.toString();
                delete(Path.of(name.substring(0, name.length() - LOCK.length())), lock,
                        FileTime.from(now.minus(UNPACKED)));
            }
        } catch (IOException | DirectoryIteratorException e) {
            log(folder, e);
        }
    }

    private static void delete(Path copy, Path lock, FileTime before) {
        try {
            if (Files.getLastModifiedTime(lock, LinkOption.NOFOLLOW_LINKS)
                    .compareTo(before) < 0) {
                Files.deleteIfExists(copy);
                Files.deleteIfExists(lock);
            }
        } catch (IOException e) { // it is another user's, or in use
            log(copy, e);
        }
    }

    private static void log(Path file, Exception e) {
        System.getLogger(SqliteLibrary.class.getName()).log(System.Logger.Level.DEBUG,
                file.toString(), e);
    }
}
