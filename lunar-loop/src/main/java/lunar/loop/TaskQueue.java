package lunar.loop;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * FIFO queue of tasks from any thread to an event loop. Reuses its array, so that queueing a task allocates nothing,
 * unlike a linked queue.
 */
final class TaskQueue {
    private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
    private volatile int size;

    void add(Runnable task) {
        synchronized (queue) {
            queue.add(task);
            size = queue.size();
        }
    }

    /** Removes and returns the oldest task; null if there is none. */
    @Nullable
    Runnable poll() {
        if (isEmpty()) {
            return null;
        }
        synchronized (queue) {
            Runnable task = queue.poll();
            size = queue.size();
            return task;
        }
    }

    /** Removes a task; returns whether it was still queued. */
    boolean remove(Runnable task) {
        synchronized (queue) {
            boolean removed = queue.remove(task);
            size = queue.size();
            return removed;
        }
    }

    boolean isEmpty() { return size == 0; }
}
