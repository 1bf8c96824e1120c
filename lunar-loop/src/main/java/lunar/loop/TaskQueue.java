package lunar.loop;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that any thread hands to an event loop, in order. It keeps its memory, so that handing a task over makes no
 * garbage, as the nodes of a linked queue would for each answer of a worker.
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

    /** The oldest, which is taken out; null where there is none. */
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

    /** Takes a task back; whether it was still there. */
    boolean remove(Runnable task) {
        synchronized (queue) {
            boolean removed = queue.remove(task);
            size = queue.size();
            return removed;
        }
    }

    boolean isEmpty() { return size == 0; }
}
