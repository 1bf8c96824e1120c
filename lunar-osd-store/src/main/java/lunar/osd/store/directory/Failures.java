package lunar.osd.store.directory;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.sql.SQLException;
import java.util.List;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** Turns exceptions of the database and of files into storage exceptions. */
final class Failures {
    /** Java reports errno only as text. */
    private static final List<String> NO_SPACE = List.of("No space left", "quota exceeded",
            "File too large");

    private Failures() {}

    static StorageException of(SQLException e) {
        return switch (code(e)) {
            // The second: the index of the log, which is memory-mapped, cannot become longer.
            case SQLITE_FULL, SQLITE_IOERR_SHMSIZE -> noSpace(e);
            case SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC -> new LostWritesException(
                    "object store: the database could not be made stable: " + e.getMessage(), e);
            default -> new MediumException("object store: database: " + e.getMessage(), e);
        };
    }

    static StorageException of(String what, IOException e) {
        if (e instanceof StorageException known) {
            return known;
        }
        String reason = e instanceof FileSystemException file && file.getReason() != null
                ? file.getReason()
                : String.valueOf(e.getMessage());
        return NO_SPACE.stream().anyMatch(reason::contains)
                ? noSpace(e)
                : new MediumException("object store: " + what + ": " + reason, e);
    }

    private static NoSpaceException noSpace(Exception e) {
        return new NoSpaceException("object store: no space left on the file system", e);
    }

    /**
     * Whether a commit that has failed so may be in the log nevertheless: the log is synced, and its index made longer,
     * after the commit was written. SQLITE_FULL is a failure of that write.
     */
    static boolean mayBeCommitted(StorageException e) {
        return !(e.getCause() instanceof SQLException cause
                && code(cause) == SQLiteErrorCode.SQLITE_FULL);
    }

    /** Whether a file is no SQLite database or its content contradicts itself. */
    static boolean isDamage(SQLException e) {
        String name = code(e).name();
        return name.startsWith("SQLITE_CORRUPT") || name.equals("SQLITE_NOTADB");
    }

    private static SQLiteErrorCode code(SQLException e) {
        return e instanceof SQLiteException known
                ? known.getResultCode()
                : SQLiteErrorCode.UNKNOWN_ERROR;
    }
}
