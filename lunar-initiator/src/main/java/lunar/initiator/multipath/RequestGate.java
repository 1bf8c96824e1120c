package lunar.initiator.multipath;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Counts the requests of a device in flight, and admits none after it is closed. Thread-safe. */
final class RequestGate {
    private final AtomicInteger inFlight = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition none = lock.newCondition();
    private volatile boolean closed;

    /** Admits a request, which must {@link #leave} later; returns false once the device is closed. */
    boolean enter() {
        inFlight.incrementAndGet();
        if (closed) {
            leave();
            return false;
        }
        return true;
    }

    /** Removes a request that has ended. */
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

    /** Admits no more requests. */
    void close() { closed = true; }

    /** Waits until no request is left: each has a deadline. Returns whether the thread was interrupted meanwhile. */
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
