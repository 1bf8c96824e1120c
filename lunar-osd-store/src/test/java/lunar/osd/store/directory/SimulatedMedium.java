package lunar.osd.store.directory;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/**
 * The I/O of a store in a directory: counts its steps, fails some, and ends at one, after which none is executed. Makes
 * the directory that the next start finds: after the end of the process with everything that was written, after a power
 * loss with the database as the last stable commit or a later one has left it, and with files that may lack what was
 * not stable.
 */
final class SimulatedMedium implements IoSteps {
    /** The process or the power has ended. */
    static final class Ended extends Error {
        private static final long serialVersionUID = 1;
    }

    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions
            .fromString("rw-------");
    /** The share of commits that may reach the medium without being made stable: one in so many. */
    private static final int LATER = 3;
    private static final List<String> DATABASE = List.of("objects.db", "objects.db-wal");

    private final Path folder;
    private final Random random;
    private final Map<String, byte[]> stable = new HashMap<>();
    /** The database after a later commit, which may have reached the medium as well. */
    private final Map<String, byte[]> later = new HashMap<>();
    private boolean keptLater;
    /** Length that files had when they were synced. */
    private final Map<Path, Long> bytesSynced = new HashMap<>();
    private final Set<Path> entriesSynced = new HashSet<>();
    private long steps;
    private long endAt = Long.MAX_VALUE;
    private long failAt = Long.MAX_VALUE;
    private int failures;
    private boolean failed;
    private boolean quiet;
    private boolean full;
    private boolean writing;
    private boolean stableCommit;

    /** A directory of which everything is stable. */
    SimulatedMedium(Path folder, Random random) throws IOException {
        this.folder = folder;
        this.random = random;
        saveDatabase(stable);
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                bytesSynced.put(each, Files.size(each));
                entriesSynced.add(each);
            }
        }
    }

    /** A directory of which as much is stable as of another one, which it has replaced. */
    SimulatedMedium(Path folder, SimulatedMedium before) {
        this.folder = folder;
        this.random = before.random;
        stable.putAll(before.stable);
        before.bytesSynced.forEach((file, bytes) -> bytesSynced
                .put(folder.resolve(before.folder.relativize(file).toString()), bytes));
        before.entriesSynced.forEach(file -> entriesSynced
                .add(folder.resolve(before.folder.relativize(file).toString())));
    }

    StoreDirectory directory() { return new StoreDirectory(folder, this); }

    /** Ends before a step. */
    void endAt(long step) { endAt = step; }

    /** Fails some steps from one on. */
    void failAt(long step, int count) {
        failAt = step;
        failures = count;
    }

    /** Whether steps neither fail nor count. */
    void quiet(boolean now) { quiet = now; }

    boolean hasEnded() { return steps >= endAt; }

    /** Whether a step has failed since the last call. */
    boolean takeFailed() {
        boolean was = failed;
        failed = false;
        return was;
    }

    /** Whether a transaction was made stable since the last call. */
    boolean takeStableCommit() {
        boolean was = stableCommit;
        stableCommit = false;
        return was;
    }

    /** Counts a step; true if it is to fail. */
    private boolean next() {
        if (quiet) {
            return false;
        }
        if (++steps >= endAt) {
            throw new Ended();
        }
        boolean fails = steps >= failAt && failures > 0;
        if (fails) {
            failures--;
            failed = true;
        }
        return fails;
    }

    @Override
    public void file(String step, Path file) throws IOException {
        if (next()) {
            throw new FileSystemException(file.toString(), null,
                    random.nextBoolean() ? "No space left on device" : "Input/output error");
        }
    }

    @Override
    public void synced(Path file) {
        try {
            if (Files.isDirectory(file)) {
                try (Stream<Path> entries = Files.list(file)) {
                    entries.forEach(entriesSynced::add);
                }
            } else {
                bytesSynced.put(file, Files.size(file));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void statement(String text) throws SQLiteException {
        boolean fails = next();
        if (fails && !text.startsWith("ROLLBACK")) {
            throw new SQLiteException("simulated", random.nextBoolean()
                    ? SQLiteErrorCode.SQLITE_FULL
                    : SQLiteErrorCode.SQLITE_IOERR);
        }
        if (text.startsWith("PRAGMA synchronous")) {
            full = text.endsWith("FULL");
        }
        writing = text.equals("BEGIN IMMEDIATE") || (writing && !text.equals("ROLLBACK"));
    }

    @Override
    public void committed() throws SQLiteException {
        if (!writing) {
            return;
        }
        writing = false;
        if (full && next()) {
            throw new SQLiteException("simulated", SQLiteErrorCode.SQLITE_IOERR_FSYNC);
        }
        if (full) {
            stableCommit = true;
        }
        try {
            if (full) {
                later.clear();
                saveDatabase(stable);
            } else if (!quiet && random.nextInt(LATER) == 0) {
                saveDatabase(later);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void saveDatabase(Map<String, byte[]> database) throws IOException {
        database.clear();
        for (String each : DATABASE) {
            Path file = folder.resolve(each);
            if (Files.exists(file)) {
                database.put(each, Files.readAllBytes(file));
            }
        }
    }

    /** Makes the directory that the next start finds. */
    void image(Path image, boolean powerLoss) throws IOException {
        copy(folder, image, powerLoss ? DATABASE : List.of());
        if (powerLoss) {
            loseUnstable(image);
        }
    }

    /** Copies the directory of a store that no process has open. */
    static void copy(Path folder, Path image, List<String> without) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                String name = each.getFileName().toString();
                if (!name.equals("lock") && !name.endsWith("-shm")
                        && !without.contains(name) && !name.equals("reserve")) {
                    Files.copy(each, image.resolve(folder.relativize(each).toString()),
                            StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        }
    }

    /** Whether the image has a state of the database after the last stable commit. */
    boolean hasKeptLater() {
        return keptLater;
    }

    private void loseUnstable(Path image) throws IOException {
        keptLater = !later.isEmpty() && random.nextBoolean();
        Map<String, byte[]> database = keptLater ? later : stable;
        for (Map.Entry<String, byte[]> each : database.entrySet()) {
            Files.write(Files.createFile(image.resolve(each.getKey()),
                    PosixFilePermissions.asFileAttribute(PRIVATE)), each.getValue());
        }
        loseData(new StoreDirectory(image));
    }

    private void loseData(StoreDirectory image) throws IOException {
        if (stable.isEmpty()) {
            return;
        }
        var unsynced = new ArrayList<Long>();
        var staged = new ArrayList<Long>();
        try (Sql sql = Sql.reading(image.database())) {
            if (Schema.isEmpty(sql)) {
                return;
            }
            unsynced.addAll(sql.all("SELECT data FROM unsynced", row -> row.getLong(1)));
            staged.addAll(sql.all("SELECT data FROM staged", row -> row.getLong(1)));
        } catch (SQLException e) {
            throw new IOException(e);
        }
        for (long each : staged) {
            if (random.nextBoolean()) {
                Files.deleteIfExists(image.file(each)); // or its entry was not stable
            }
        }
        for (long each : unsynced) {
            lose(image.file(each), new StoreDirectory(folder).file(each));
        }
    }

    /** Loses the file if its entry is not stable, or some of what was written behind the bytes that are. */
    private void lose(Path file, Path original) throws IOException {
        if (!Files.exists(file)) {
            return;
        }
        if (!entriesSynced.contains(original) && random.nextBoolean()) {
            Files.delete(file);
            return;
        }
        long stableBytes = bytesSynced.getOrDefault(original, 0L);
        try (var bytes = new RandomAccessFile(file.toFile(), "rw")) {
            long more = bytes.length() - stableBytes;
            if (more > 0) {
                bytes.setLength(stableBytes + switch (random.nextInt(3)) {
                    case 0 -> 0;
                    case 1 -> more;
                    default -> random.nextLong(more);
                });
            }
        }
    }
}
