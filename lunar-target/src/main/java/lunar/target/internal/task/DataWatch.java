package lunar.target.internal.task;

import java.util.List;
import lunar.iscsi.spi.EventLoop;

/**
 * Gives up tasks with data that do not come while other PDUs do: a peer that forgets a write must not keep its memory.
 * Does not count time in which the peer sends nothing at all, or in which nothing is read from it. Confined to the
 * event loop's thread.
 */
final class DataWatch {
    private final ConnectionTasks connection;
    private final EventLoop loop;
    private final long limitMs;
    private EventLoop.Timer timer = () -> {};
    private boolean running;
    private boolean stopped;

    DataWatch(ConnectionTasks connection, EventLoop loop, long limitMs) {
        this.connection = connection;
        this.loop = loop;
        this.limitMs = limitMs;
    }

    /** Watches a task that waits for data. */
    void begin() {
        if (!running && !stopped) {
            running = true;
            timer = loop.schedule(this::look, limitMs / 2);
        }
    }

    void stop() {
        stopped = true;
        timer.cancel();
    }

    private void look() {
        running = false;
        boolean waiting = false;
        for (Task task : connection.own()) {
            if (task.state() == TaskState.RECEIVING) {
                long missingMs = connection.heardMs() - task.out().heardMs();
                // Asks again before it gives the task up, even where this look comes late.
                if (missingMs < limitMs / 2 || connection.askAgain(task)
                        || missingMs < limitMs) {
                    waiting = true;
                } else {
                    connection.giveUp(task);
                }
            }
        }
        if (waiting) {
            begin();
        }
    }
}
