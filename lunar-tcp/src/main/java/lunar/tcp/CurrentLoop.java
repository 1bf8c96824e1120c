package lunar.tcp;

import java.util.concurrent.RejectedExecutionException;
import lunar.iscsi.spi.EventLoop;

/** The loop that a connection is on, which may change. For any thread. */
final class CurrentLoop {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");

    private final Object peer;
    private volatile SelectorSource source;

    /** @param peer for the log */
    CurrentLoop(SelectorSource source, Object peer) {
        this.source = source;
        this.peer = peer;
    }

    SelectorSource source() { return source; }

    EventLoop loop() { return source.loop(); }

    /** Makes another loop the current one; called by the thread of the previous one. */
    void become(SelectorSource target) {
        source = target;
    }

    /** Runs a task now if this is the loop's thread, else later. */
    void run(Runnable task) {
        if (loop().inLoop()) {
            task.run();
        } else {
            later(() -> run(task)); // perhaps it has moved to another loop by then
        }
    }

    /** Runs a task later, on what is the loop now; never if that has ended, and its connections with it. */
    void later(Runnable task) {
        try {
            loop().execute(task);
        } catch (RejectedExecutionException e) {
            LOG.log(System.Logger.Level.DEBUG, "connection to {0}: {1}", peer, e);
        }
    }
}
