package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** Tests the combination of changes into transactions. */
class CommitQueueTest {
    @TempDir
    Path folder;

    /** A change that was not executed is not acknowledged: another thread could not start one that would do it. */
    @Test
    void shouldFailTheChangesThatAThreadCannotExecuteForOthers() throws Exception {
        var directory = new StoreDirectory(folder);
        Files.createFile(directory.database());
        var threads = new PlatformThreads();
        threads.close();
        try (Sql sql = Sql.writing(directory.database())) {
            Schema.create(sql, 1);
            var commits = new CommitQueue(sql,
                    new Overlay(new Space(), new Touches(), new OpenFiles()),
                    new StableStorage(directory), false, threads);
            var begun = new CountDownLatch(1);
            var end = new CountDownLatch(1);
            var executed = new AtomicBoolean();
            CompletableFuture<Throwable> first = start(false, () -> commits.run(_ -> {
                begun.countDown();
                end.await();
                return true;
            }));
            begun.await();
            CompletableFuture<Throwable> second = start(true, () -> commits.runStable(_ -> true));
            CompletableFuture<Throwable> third = start(false, () -> commits.run(_ -> {
                executed.set(true);
                return true;
            }));
            end.countDown();
            assertThat(first.get()).isNull();
            assertThat(second.get()).isInstanceOf(RejectedExecutionException.class);
            assertThat(third.get()).isInstanceOf(RejectedExecutionException.class);
            assertThat(executed).isFalse();
        }
    }

    /** SQLite reports a commit as failed whose frame is in the log, so the next start finds it committed. */
    @Test
    void shouldKeepFilesOfACommitThatCouldNotBeSynced() throws Exception {
        assertThatFilesStay(SQLiteErrorCode.SQLITE_IOERR_FSYNC, LostWritesException.class, false);
    }

    /** As on a full disk: the index of the log is made longer after the commit was written. */
    @Test
    void shouldKeepFilesOfACommitThatHasNoIndex() throws Exception {
        assertThatFilesStay(SQLiteErrorCode.SQLITE_IOERR_SHMSIZE, NoSpaceException.class, true);
    }

    @Test
    void shouldKeepFilesOfACommitThatFailsOtherwise() throws Exception {
        assertThatFilesStay(SQLiteErrorCode.SQLITE_IOERR, MediumException.class, false);
    }

    private void assertThatFilesStay(SQLiteErrorCode code,
            Class<? extends StorageException> expected, boolean full) throws Exception {
        var directory = new StoreDirectory(folder);
        Files.createFile(directory.database());
        try (Sql sql = Sql.writing(directory.database())) {
            Schema.create(sql, 1);
        }
        var failing = new AtomicBoolean();
        try (var threads = new PlatformThreads();
                Sql sql = new Sql(failing(directory.database(), failing, code))) {
            var stability = new StableStorage(directory);
            var space = new Space();
            var commits = new CommitQueue(sql,
                    new Overlay(space, new Touches(), new OpenFiles()), stability, false,
                    threads);
            commits.run(objects -> {
                objects.create(ObjectId.ofPartition(0x10000), ObjectType.PARTITION, 1);
                return true;
            });
            var store = new DataStore(directory, commits, stability, threads);
            long data;
            try (Staged staged = new Staged(store)) {
                staged.write(0, MemorySegment.ofArray(new byte[DataStore.SMALL + 1]));
                data = staged.data();
                failing.set(true);
                assertThatThrownBy(() -> commits.run(objects -> {
                    objects.create(new ObjectId(0x10000, 0x10000), staged, 1);
                    return true;
                })).isInstanceOf(expected);
            }
            assertThat(space.isFull()).isEqualTo(full);
            assertThat(sql.number("SELECT data FROM objects WHERE type = 128")).isEqualTo(data);
            assertThat(directory.file(data)).hasSize(DataStore.SMALL + 1);
        }
    }

    /** Opens a connection whose commits succeed, and then fail. */
    private static Connection failing(Path database, AtomicBoolean failing, SQLiteErrorCode code)
            throws SQLException {
        Connection real = DriverManager.getConnection("jdbc:sqlite:" + database);
        real.setAutoCommit(false);
        try (Statement statement = real.createStatement()) {
            statement.execute("COMMIT"); // which the driver has begun
        }
        return (Connection) Proxy.newProxyInstance(CommitQueueTest.class.getClassLoader(),
                new Class<?>[]{Connection.class}, (_, method, arguments) -> {
                    Object result = method.invoke(real, arguments);
                    return result instanceof PreparedStatement commit
                            && "COMMIT".equals(arguments[0])
                                    ? failing(commit, failing, code)
                                    : result;
                });
    }

    private static Object failing(PreparedStatement commit, AtomicBoolean failing,
            SQLiteErrorCode code) {
        return Proxy.newProxyInstance(CommitQueueTest.class.getClassLoader(),
                new Class<?>[]{PreparedStatement.class}, (_, method, arguments) -> {
                    Object result = method.invoke(commit, arguments);
                    if (failing.get() && method.getName().equals("executeUpdate")) {
                        throw new SQLiteException("failing", code);
                    }
                    return result;
                });
    }

    /** A task that may throw. */
    private interface Task {
        Object run() throws Exception;
    }

    /** Starts a task, and returns once it waits; the result is what it throws, or null. */
    private static CompletableFuture<Throwable> start(boolean virtual, Task task)
            throws InterruptedException {
        var result = new CompletableFuture<Throwable>();
        Runnable body = () -> {
            try {
                task.run();
                result.complete(null);
            } catch (Throwable e) {
                result.complete(e);
            }
        };
        Thread thread = virtual ? Thread.ofVirtual().start(body) : Thread.ofPlatform().start(body);
        while (thread.isAlive() && thread.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        return result;
    }
}
