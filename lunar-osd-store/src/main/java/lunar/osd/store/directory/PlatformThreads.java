package lunar.osd.store.directory;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Runs what waits for the disk in native code on platform threads. A virtual thread would keep its carrier from others
 * meanwhile. Thread-safe.
 */
final class PlatformThreads implements AutoCloseable {
    private final ExecutorService threads = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("lunar-osd-store-", 0).factory());

    /** Runs a task here if this is a platform thread, or else on one. Interrupts do not end the wait. */
    void run(Runnable task) {
        if (Thread.currentThread().isVirtual()) {
            CompletableFuture.runAsync(task, threads).join();
        } else {
            task.run();
        }
    }

    @Override
    public void close() { threads.shutdown(); }
}
