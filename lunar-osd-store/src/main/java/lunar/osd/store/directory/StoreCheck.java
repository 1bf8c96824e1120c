package lunar.osd.store.directory;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import lunar.block.StorageException;

/**
 * Checks whether the database is in order, the counters are what they count, and every object has its file. Reads
 * everything but the content of files, and changes nothing.
 */
final class StoreCheck {
    private static final int MAX_PROBLEMS = 100;
    /** In a statement: whether the partition of an object was not removed. */
    private static final String LIVE = "home IN (SELECT home FROM partitions)";

    private final StoreDirectory directory;
    private final Readers readers;
    private final OpenFiles files;
    private final List<String> problems = new ArrayList<>();

    StoreCheck(StoreDirectory directory, Readers readers, OpenFiles files) {
        this.directory = directory;
        this.readers = readers;
        this.files = files;
    }

    /** Returns the problems, each in a line; at most 100. */
    List<String> run() throws StorageException {
        List<Long> present = present(); // before the database: what is created meanwhile is in order
        readers.run(rows -> {
            for (String each : rows.sql.all("PRAGMA quick_check(" + MAX_PROBLEMS + ")",
                    row -> row.getString(1))) {
                if (!each.equals("ok")) {
                    add("database: " + each);
                }
            }
            checkCounters(rows.sql);
            checkFiles(rows.sql);
            checkOwners(rows.sql, present);
            return true;
        });
        return List.copyOf(problems);
    }

    private void add(String problem) {
        if (problems.size() < MAX_PROBLEMS) {
            problems.add(problem);
        }
    }

    private void checkCounters(Sql sql) throws StorageException {
        String wrong = """
                SELECT part, collections, objects, used, counted.* FROM partitions LEFT JOIN (
                    SELECT home AS h, sum(type = 64) AS c, sum(type = 128) AS o,
                        sum(CASE type WHEN 128 THEN length ELSE 0 END) AS u
                    FROM objects GROUP BY home) AS counted ON h = home
                WHERE part != ? AND (collections, objects, used) IS NOT (c, o, u)""";
        sql.all(wrong, row -> "partition " + Long.toHexString(Keys.id(row.getLong(1))) + "h has "
                + row.getLong(6) + " collections, " + row.getLong(7) + " user objects, "
                + row.getLong(8) + " bytes; its counters are " + row.getLong(2) + ", "
                + row.getLong(3) + ", " + row.getLong(4), Keys.key(0)).forEach(this::add);
        long partitions = sql.number("SELECT count(*) FROM partitions WHERE part != ?",
                Keys.key(0));
        long counted = sql.number("SELECT objects FROM partitions WHERE part = ?", Keys.key(0));
        if (partitions != counted) {
            add(partitions + " partitions; the counter is " + counted);
        }
        long homeless = sql.number("SELECT count(*) FROM objects WHERE home NOT IN"
                + " (SELECT home FROM partitions UNION ALL SELECT home FROM removed)");
        if (homeless != 0) {
            add(homeless + " objects of no partition");
        }
        long members = sql.number(
                "SELECT count(*) FROM objects WHERE type = 64 AND " + LIVE + " AND length !="
                        + " (SELECT count(*) FROM members WHERE members.home = objects.home"
                        + " AND members.collection = objects.object)");
        if (members != 0) {
            add(members + " collections have a wrong number of members");
        }
        long small = sql.number("SELECT count(*) FROM objects LEFT JOIN small ON"
                + " small.data = -objects.data WHERE type = 128 AND objects.data < 0"
                + " AND length(bytes) IS NOT objects.length");
        if (small != 0) {
            add(small + " objects without their small data");
        }
        if (sql.number("SELECT count(*) FROM small") != sql
                .number("SELECT count(*) FROM objects WHERE type = 128 AND data < 0")) {
            add("small data of no object");
        }
    }

    /** Returns data ids and lengths of objects, also of removed partitions unless a condition excludes them. */
    private static List<long[]> owned(Sql sql, String condition) throws StorageException {
        return sql.all("SELECT data, length FROM objects WHERE type = 128 AND data > 0 AND "
                + condition,
                row -> new long[]{row.getLong(1), row.getLong(2)});
    }

    private void checkFiles(Sql sql) throws StorageException {
        for (long[] each : owned(sql, LIVE)) {
            Path file = directory.file(each[0]);
            try {
                long size = Files.size(file);
                if (size < each[1] && !files.isUnsynced(each[0])) {
                    add(file + " has " + size + " bytes instead of " + each[1]);
                }
            } catch (IOException e) {
                add(file + ": " + e);
            }
        }
    }

    private void checkOwners(Sql sql, List<Long> present) throws StorageException {
        var known = new HashSet<Long>();
        owned(sql, "TRUE").forEach(each -> known.add(each[0]));
        for (String table : List.of("staged", "dropped")) {
            known.addAll(sql.all("SELECT data FROM " + table, row -> row.getLong(1)));
        }
        for (long each : present) {
            if (!known.contains(each) && Files.exists(directory.file(each))) {
                add(directory.file(each) + " belongs to no object");
            }
        }
    }

    /** Returns the data ids of the files that are there; some may be deleted meanwhile. */
    private List<Long> present() throws StorageException {
        var found = new ArrayList<Long>();
        try {
            Files.walkFileTree(directory.data(), new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    addPresent(file, found);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException e)
                        throws IOException {
                    if (e instanceof NoSuchFileException) {
                        return FileVisitResult.CONTINUE;
                    }
                    throw e;
                }
            });
        } catch (IOException e) {
            throw Failures.of("list of " + directory.data(), e);
        }
        return found;
    }

    private void addPresent(Path file, List<Long> found) {
        String name = String.valueOf(file.getFileName());
        if (name.matches("[0-9a-f]{16}")) {
            long data = Long.parseUnsignedLong(name, 16);
            if (directory.file(data).equals(file)) {
                found.add(data);
                return;
            }
        }
        add(file + " is no file of the store");
    }
}
