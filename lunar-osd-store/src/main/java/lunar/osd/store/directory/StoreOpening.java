package lunar.osd.store.directory;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import lunar.block.PrivateFile;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Opens or creates the database of a store. A directory that is not one, or is damaged, is left as it is: it is
 * examined by a connection that only reads.
 */
final class StoreOpening {
    private static final System.Logger LOG = System.getLogger(StoreOpening.class.getName());
    private static final byte[] MAGIC = "SQLite format 3\0".getBytes(StandardCharsets.US_ASCII);
    /** Size of a database that is checked completely at the start, which takes less than a second. */
    private static final long MAX_CHECKED_BYTES = 32L << 20;

    private final StoreDirectory directory;
    private final boolean create;

    StoreOpening(StoreDirectory directory, boolean create) {
        this.directory = directory;
        this.create = create;
    }

    /** Makes sure that there is a store, or that one may be created. */
    void prepareDirectory() throws IOException {
        Path path = directory.path();
        if (path.toString().contains("?")) { // ends a file's name in the driver's URLs
            throw new IOException("object store " + path + ": the name must not have a '?'");
        }
        if (!Files.exists(path)) {
            if (!create) {
                throw new IOException("there is no object store " + path);
            }
            directory.makeDirectory(path);
            Path parent = path.getParent();
            if (parent != null) {
                directory.sync(parent);
            }
        } else if (!Files.isDirectory(path)) {
            throw new NotDirectoryException(path.toString());
        }
        if (!Files.exists(directory.database())) {
            Set<String> others = names();
            others.removeAll(Set.of("lock", "data", "reserve", "lost+found"));
            if (!create || !others.isEmpty()) {
                throw new IOException(path + " is no object store" + (create
                        ? ", and not empty: it has " + others.iterator().next()
                                + "; create the store in an empty directory"
                        : ""));
            }
        }
    }

    private Set<String> names() throws IOException {
        var names = new TreeSet<String>();
        try (Stream<Path> entries = Files.list(directory.path())) {
            entries.forEach(each -> names.add(each.getFileName().toString()));
        }
        return names;
    }

    /** Opens the connection that writes. */
    Sql openDatabase() throws IOException {
        Path database = directory.database();
        try {
            if (!Files.exists(database)) {
                directory.createFile(database);
            }
            if (Files.size(database) == 0) {
                return createDatabase();
            }
            PrivateFile.check(database).ifPresent(exposure -> LOG.log(
                    System.Logger.Level.WARNING, "object store: {0} {1}", database, exposure));
            return examine() ? Sql.writing(database, directory.steps()) : createDatabase();
        } catch (SQLException e) {
            throw Failures.isDamage(e)
                    ? damaged(String.valueOf(e.getMessage()), e)
                    : Failures.of(e);
        }
    }

    private Sql createDatabase() throws IOException, SQLException {
        if (!create) {
            throw new IOException(directory + " is no object store: its creation was interrupted");
        }
        directory.makeDirectory(directory.data());
        Sql sql = Sql.writing(directory.database(), directory.steps());
        boolean created = false;
        try {
            if (Schema.isEmpty(sql)) {
                Schema.create(sql, System.currentTimeMillis());
            }
            directory.sync(directory.path());
            created = true;
            return sql;
        } finally {
            if (!created) {
                sql.close();
            }
        }
    }

    /** Returns false if the database is empty: its first page is written before the transaction that creates it. */
    private boolean examine() throws IOException, SQLException {
        Path database = directory.database();
        try (InputStream bytes = Files.newInputStream(database)) {
            if (!Arrays.equals(bytes.readNBytes(MAGIC.length), MAGIC)) {
                throw damaged("it is no SQLite database", null);
            }
        }
        try (Sql sql = Sql.reading(database)) {
            long application = sql.number("PRAGMA application_id");
            long version = sql.number("PRAGMA user_version");
            if (application == 0 && Schema.isEmpty(sql)) {
                return false;
            }
            if (application != Schema.APPLICATION_ID) {
                throw new IOException(database + " is a database of another program");
            }
            if (version != Schema.VERSION) {
                throw new IOException("object store " + directory + " has format version " + version
                        + "; this program knows version " + Schema.VERSION
                        + (version > Schema.VERSION
                                ? ": use a newer one"
                                : ": copy its objects with the program that wrote it"));
            }
            if (!Schema.isComplete(sql)) {
                throw damaged("tables are missing", null);
            }
            checkContent(sql);
            return true;
        } catch (StorageException e) {
            throw damaged(String.valueOf(e.getMessage()), e);
        }
    }

    private void checkContent(Sql sql) throws IOException {
        if (sql.number("SELECT count(*) FROM meta") != 1) {
            throw damaged("it has no identity", null);
        }
        if (Files.size(directory.database()) <= MAX_CHECKED_BYTES) {
            String found = sql.first("PRAGMA quick_check(1)", row -> row.getString(1));
            if (!"ok".equals(found)) {
                throw damaged(String.valueOf(found), null);
            }
        }
    }

    private IOException damaged(String problem, @Nullable Exception e) {
        return new IOException("object store " + directory + " is damaged: " + directory.database()
                + ": " + problem + "; nothing was changed: restore the directory from a backup, or"
                + " copy it and try sqlite3's .recover on the copy", e);
    }
}
