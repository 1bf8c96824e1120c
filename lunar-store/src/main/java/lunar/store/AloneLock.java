package lunar.store;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.StampedLock;

/**
 * Shared by requests that touch blocks, exclusive to those which must be alone because they read, decide and write. A
 * share may be given back by another thread than the one that took it. A thread that asks for a share without waiting
 * gets none while another waits to be alone: a device that is always busy would never let that one in.
 */
final class AloneLock {
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

    /** Whether a thread waits to be alone, or the lock is shut: then a share is kept only for what has begun. */
    boolean isAwaited() {
        return waiting.get() > 0 || shut;
    }

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
