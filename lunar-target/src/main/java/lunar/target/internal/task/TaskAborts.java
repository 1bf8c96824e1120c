package lunar.target.internal.task;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import lunar.iscsi.spi.EventLoop;

/**
 * Aborts tasks of a session. A task that a device executes cannot be recalled: it is waited for, and detached if the
 * device does not complete it in time. Confined to the event loop's thread.
 */
final class TaskAborts {
    private final SessionTasks tasks;
    private final EventLoop loop;
    private final long patienceMs;

    TaskAborts(SessionTasks tasks, EventLoop loop, long patienceMs) {
        this.tasks = tasks;
        this.loop = loop;
        this.patienceMs = patienceMs;
    }

    /** Aborts tasks; see {@link SessionTasks#abort}. */
    CompletableFuture<Integer> abort(Predicate<Task> which, Consumer<List<Task>> marked) {
        List<Task> chosen = tasks.all().stream().filter(which).toList();
        List<Task> fresh = chosen.stream().filter(task -> !task.aborted()).toList();
        fresh.forEach(Task::abort); // mark all of them before the end of one lets the next begin
        chosen.forEach(task -> task.owe(false)); // an earlier, rejected function may have owed it a response
        var waits = new ArrayList<CompletableFuture<Void>>();
        for (Task task : chosen) { // including those that were aborted before
            var wait = new CompletableFuture<Void>();
            waits.add(wait);
            task.whenEnded(() -> wait.complete(null));
            tasks.endUnbegun(task);
        }
        marked.accept(fresh);
        var all = CompletableFuture.allOf(waits.toArray(CompletableFuture[]::new));
        if (!all.isDone()) {
            EventLoop.Timer timer = loop.schedule(() -> chosen.forEach(tasks::leaveBehind),
                    patienceMs);
            var _ = all.thenRun(timer::cancel);
        }
        return all.thenApply(_ -> fresh.size());
    }
}
