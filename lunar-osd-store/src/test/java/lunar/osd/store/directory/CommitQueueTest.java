package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
