package lunar.admin.http;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Runs the work of requests that change something, on threads of their own, because the web server interrupts its
 * threads when it stops: an interrupt would close files that are in use.
 */
final class DetachedWork {
    private DetachedWork() {}

    /**
     * Runs work on a new thread, and waits for its end.
     *
     * @throws ExecutionException if the work throws; its cause is that exception
     * @throws InterruptedException if the web server stops; the work goes on
     */
    static <T> T run(String thread, Callable<T> work)
            throws ExecutionException, InterruptedException {
        var task = new FutureTask<>(work);
        Thread.ofPlatform().daemon().name(thread).start(task);
        return task.get();
    }
}
