package lunar.target.internal.task;

import java.util.List;
import lunar.iscsi.spi.EventLoop;

/**
 * Ends tasks whose data does not arrive although other PDUs do, so that a peer that forgets a write does not occupy its
 * memory. Time in which the peer is silent, or is not being read, does not count. Confined to the event loop's thread.
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
                // Request the data again before giving up, even if this check runs late.
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
