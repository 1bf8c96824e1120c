package lunar.admin.http;

import java.io.IOException;
import java.time.Duration;

/**
 * Keeps a listener working: the web server ends for good when it once fails to accept a connection, as when a process
 * has too many open files. Connects to it from time to time, and starts a new one if nothing listens. Thread-safe.
 */
public final class ListenerWatch implements AutoCloseable {
    /** Time between two checks. */
    public static final Duration PERIOD = Duration.ofSeconds(30);

    private static final System.Logger LOG = System.getLogger("lunar.admin");

    private final Start start;
    private final Thread thread;
    private Listener listener;
    private boolean closed;

    /** Starts a listener on the address where one has failed. */
    public interface Start {
        Listener run() throws IOException;
    }

    private ListenerWatch(Listener first, Start start, Duration period) {
        this.listener = first;
        this.start = start;
        thread = Thread.ofVirtual().name("lunar-admin-watch").unstarted(() -> watch(period));
    }

    /** Watches a listener, which it then owns. */
    public static ListenerWatch of(Listener first, Start start, Duration period) {
        var watch = new ListenerWatch(first, start, period);
        watch.thread.start();
        return watch;
    }

    private void watch(Duration period) {
        boolean hasFailed = false;
        try {
            while (true) {
                Thread.sleep(period);
                Listener current = current();
                if (!current.hasFailed()) {
                    hasFailed = false;
                    continue;
                }
                hasFailed = restart(current, !hasFailed);
            }
        } catch (InterruptedException _) {
            // closed
        }
    }

    private synchronized Listener current() { return listener; }

    /** Whether it must be started again. Logs the first failure only, not that of each period. */
    private synchronized boolean restart(Listener failed, boolean isFirst) {
        if (closed) {
            return false;
        }
        try {
            failed.close();
            listener = start.run();
            LOG.log(System.Logger.Level.ERROR,
                    "the admin API on {0} stopped listening; it was started again",
                    listener.address());
            return false;
        } catch (IOException | RuntimeException e) {
            if (isFirst) {
                LOG.log(System.Logger.Level.ERROR,
                        "the admin API on {0} stopped listening and cannot be started again: {1}",
                        failed.address(), e.getMessage());
            }
            return true;
        }
    }

    /** Stops the listener. */
    @Override
    public void close() {
        thread.interrupt();
        synchronized (this) {
            closed = true;
            listener.close();
        }
    }
}
