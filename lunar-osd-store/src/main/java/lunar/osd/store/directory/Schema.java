package lunar.osd.store.directory;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lunar.block.MediumException;
import lunar.block.StorageException;

/**
 * Tables of the database, format {@link #VERSION}; docs/osd-store.md describes them. {@code part} and {@code object}
 * are {@link Keys}, as is {@code home}; {@code data} is a data id.
 */
final class Schema {
    /** In the header of the file, which file(1) shows: "LuOS". */
    static final int APPLICATION_ID = 0x4c75_4f53;
    /** Format version, in the header of the file. */
    static final int VERSION = 2;

    private static final List<String> TABLES = List.of("""
            CREATE TABLE meta(
                id INTEGER PRIMARY KEY CHECK (id = 1),
                identity BLOB NOT NULL,
                next_data INTEGER NOT NULL,
                flushes INTEGER NOT NULL)""", """
            CREATE TABLE partitions(
                part INTEGER PRIMARY KEY,
                home INTEGER NOT NULL,
                collections INTEGER NOT NULL,
                objects INTEGER NOT NULL,
                used INTEGER NOT NULL)""", """
            CREATE TABLE objects(
                home INTEGER NOT NULL,
                type INTEGER NOT NULL,
                object INTEGER NOT NULL,
                length INTEGER NOT NULL,
                data INTEGER NOT NULL,
                created INTEGER NOT NULL,
                attributes_accessed INTEGER NOT NULL,
                attributes_modified INTEGER NOT NULL,
                data_accessed INTEGER NOT NULL,
                data_modified INTEGER NOT NULL,
                PRIMARY KEY (home, type, object)) WITHOUT ROWID""", """
            CREATE TABLE attributes(
                home INTEGER NOT NULL,
                object INTEGER NOT NULL,
                page INTEGER NOT NULL,
                number INTEGER NOT NULL,
                value BLOB NOT NULL,
                PRIMARY KEY (home, object, page, number)) WITHOUT ROWID""", """
            CREATE TABLE members(
                home INTEGER NOT NULL,
                collection INTEGER NOT NULL,
                object INTEGER NOT NULL,
                PRIMARY KEY (home, collection, object)) WITHOUT ROWID""", """
            CREATE INDEX collections_of ON members(home, object, collection)""", """
            CREATE TABLE small(
                data INTEGER PRIMARY KEY,
                bytes BLOB NOT NULL)""", """
            CREATE TABLE removed(home INTEGER PRIMARY KEY)""", """
            CREATE TABLE staged(data INTEGER PRIMARY KEY)""", """
            CREATE TABLE dropped(data INTEGER PRIMARY KEY)""", """
            CREATE TABLE unsynced(
                data INTEGER PRIMARY KEY,
                part INTEGER NOT NULL,
                object INTEGER NOT NULL,
                stable INTEGER NOT NULL)""");

    private static final Set<String> NAMES = Set.of("meta", "partitions", "objects", "attributes",
            "members", "collections_of", "small", "removed", "staged", "dropped", "unsynced");

    private Schema() {}

    /** Creates everything in one transaction; the database stays {@link #isEmpty empty} if it is interrupted. */
    static void create(Sql sql, long nowMs) throws StorageException {
        sql.execute("PRAGMA journal_mode = WAL");
        sql.execute("PRAGMA synchronous = FULL");
        sql.execute("BEGIN IMMEDIATE");
        for (String each : TABLES) {
            sql.execute(each);
        }
        UUID identity = UUID.randomUUID();
        sql.update("INSERT INTO meta VALUES (1, ?, 1, 0)", ByteBuffer.allocate(Long.BYTES * 2)
                .putLong(identity.getMostSignificantBits())
                .putLong(identity.getLeastSignificantBits()).array());
        sql.update("INSERT INTO partitions VALUES (?1, ?1, 0, 0, 0)", Keys.key(0));
        sql.update("INSERT INTO objects VALUES (?1, 1, ?1, 0, 0, ?2, ?2, ?2, ?2, ?2)", Keys.key(0),
                nowMs);
        sql.execute("PRAGMA application_id = " + APPLICATION_ID);
        sql.execute("PRAGMA user_version = " + VERSION);
        sql.execute("COMMIT");
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)"); // the header of the file tells what it is
        sql.execute("PRAGMA synchronous = NORMAL");
    }

    /** Whether nothing was created yet. */
    static boolean isEmpty(Sql sql) throws StorageException {
        return sql.number("PRAGMA user_version") == 0 && names(sql).isEmpty();
    }

    /** Whether all tables and indexes are there. */
    static boolean isComplete(Sql sql) throws StorageException {
        return names(sql).containsAll(NAMES);
    }

    private static Set<String> names(Sql sql) throws StorageException {
        Stream<String> names = sql.all("SELECT name FROM sqlite_master", row -> row.getString(1))
                .stream();
        return names.collect(Collectors.toSet());
    }

    static UUID identity(Sql sql) throws StorageException {
        ByteBuffer bytes = sql.first("SELECT identity FROM meta",
                row -> ByteBuffer.wrap(row.getBytes(1)));
        if (bytes == null || bytes.remaining() != Long.BYTES * 2) {
            throw new MediumException("object store: the database has no identity");
        }
        return new UUID(bytes.getLong(), bytes.getLong());
    }
}
