package lunar.store;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.StampedLock;

/**
 * A lock that is shared by most requests and exclusive for requests that read, decide and write. A share may be
 * released by another thread than the one that acquired it. An attempt to acquire a share without waiting fails while a
 * thread waits for exclusive access, which could otherwise starve on a busy device.
 */
final class RequestLock {
    private final StampedLock lock = new StampedLock();
    /** Threads that wait to be alone. */
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile boolean shut;

    /** Waits for a share. */
    long readLock() { return lock.readLock(); }

    /** Returns a share, or 0 when a thread is alone or waits for it, or the blocks must not be used as they are. */
    long tryReadLock() {
        return isAwaited() ? 0 : lock.tryReadLock();
    }

    /**
     * Whether a thread waits for exclusive access, or the lock is closed; then a share may only be kept for started
     * work.
     */
    boolean isAwaited() { return waiting.get() > 0 || shut; }

    /** Sets, alone, whether the blocks must not be used as they are; ask {@link #isShut} after a wait for a share. */
    void shut(boolean value) {
        shut = value;
    }

    boolean isShut() { return shut; }

    /** Waits until it is alone. */
    long writeLock() {
        waiting.incrementAndGet();
        try {
            return lock.writeLock();
        } finally {
            waiting.decrementAndGet();
        }
    }

    void unlock(long stamp) { lock.unlock(stamp); }

    void unlockRead(long stamp) { lock.unlockRead(stamp); }

    void unlockWrite(long stamp) { lock.unlockWrite(stamp); }
}
