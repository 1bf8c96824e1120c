package lunar.target;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import lunar.iscsi.spi.EventLoop;

/**
 * Aborts tasks of a connection. One that a device executes cannot be called back: it is waited for, and left behind
 * when the device does not end it in time. On the loop.
 */
final class TaskAborts {
    private final FullFeature connection;
    private final EventLoop loop;
    private final long patienceMs;

    TaskAborts(FullFeature connection, EventLoop loop, long patienceMs) {
        this.connection = connection;
        this.loop = loop;
        this.patienceMs = patienceMs;
    }

    /** See {@link Session#abort}. */
    CompletableFuture<Integer> abort(Predicate<Task> which, Consumer<List<Task>> marked) {
        List<Task> chosen = connection.tasks().stream().filter(which).toList();
        List<Task> fresh = chosen.stream().filter(task -> !task.aborted()).toList();
        fresh.forEach(Task::abort); // all, before the end of one lets the next begin
        var waits = new ArrayList<CompletableFuture<Void>>();
        for (Task task : chosen) { // also those that somebody else has aborted before
            var wait = new CompletableFuture<Void>();
            waits.add(wait);
            task.whenEnded(() -> wait.complete(null));
            connection.endUnbegun(task);
        }
        marked.accept(fresh);
        var all = CompletableFuture.allOf(waits.toArray(CompletableFuture[]::new));
        if (!all.isDone()) {
            EventLoop.Timer timer = loop.schedule(() -> chosen.forEach(connection::leaveBehind),
                    patienceMs);
            var _ = all.thenRun(timer::cancel);
        }
        return all.thenApply(_ -> fresh.size());
    }
}
