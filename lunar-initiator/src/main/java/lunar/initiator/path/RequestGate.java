package lunar.initiator.path;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Counts the requests of a device that are under way, and lets none in once it is closed. Thread-safe. */
final class RequestGate {
    private final AtomicInteger inFlight = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition none = lock.newCondition();
    private volatile boolean closed;

    /** A request comes; false where it is too late. One that is let in is to {@link #leave}. */
    boolean enter() {
        inFlight.incrementAndGet();
        if (closed) {
            leave();
            return false;
        }
        return true;
    }

    /** A request has come to its end. */
    void leave() {
        if (inFlight.decrementAndGet() > 0 || !closed) {
            return;
        }
        lock.lock();
        try {
            none.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() { return closed; }

    /** Lets in no more. */
    void close() { closed = true; }

    /** Waits until none is left: every request has a deadline. Returns whether the thread was interrupted meanwhile. */
    boolean awaitNone() {
        boolean interrupted = false;
        lock.lock();
        try {
            while (inFlight.get() > 0) {
                try {
                    none.await();
                } catch (InterruptedException _) {
                    interrupted = true;
                }
            }
        } finally {
            lock.unlock();
        }
        return interrupted;
    }
}
