package lunar.initiator.multipath;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Delivers events to a listener in order, on a virtual thread that lives while events are queued. */
final class EventDispatcher {
    /** Maximum number of queued events; further ones are dropped. */
    static final int MAX_WAITING = 4096;

    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    private final PathListener listener;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();
    private final Deque<Consumer<PathListener>> waiting = new ArrayDeque<>(); // guarded by the lock
    private @Nullable Thread teller; // guarded by the lock
    private boolean behind; // guarded by the lock

    EventDispatcher(PathListener listener) { this.listener = listener; }

    /** Queues an event; never waits for the listener. */
    void tell(Consumer<PathListener> event) {
        lock.lock();
        try {
            if (waiting.size() < MAX_WAITING) {
                waiting.add(event);
            } else if (!behind) {
                behind = true;
                LOG.log(System.Logger.Level.WARNING,
                        "a path listener is too slow; events are dropped");
            }
            if (teller == null) {
                teller = Thread.ofVirtual().name("lunar-path-listener").start(this::run);
            }
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        for (var event = next(); event != null; event = next()) {
            try {
                event.accept(listener);
            } catch (RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR, "path listener failed", e);
            }
        }
    }

    private @Nullable Consumer<PathListener> next() {
        lock.lock();
        try {
            Consumer<PathListener> event = waiting.poll();
            if (event == null) {
                teller = null;
                behind = false;
                idle.signalAll();
            }
            return event;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until all events are delivered; not on the thread that delivers them. */
    void awaitTold() throws InterruptedException {
        lock.lock();
        try {
            while (teller != null && !teller.equals(Thread.currentThread())) {
                idle.await();
            }
        } finally {
            lock.unlock();
        }
    }
}
