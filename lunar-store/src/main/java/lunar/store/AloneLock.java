package lunar.store;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.StampedLock;

/**
 * Shared by requests that touch blocks, exclusive to those which must be alone because they read, think and write. A
 * share may be given back by another thread than the one that took it. Whoever asks for a share without waiting does
 * not get in before somebody who waits to be alone: a device that is always busy would never let that one in.
 */
final class AloneLock {
    private final StampedLock lock = new StampedLock();
    /** Threads that wait to be alone. */
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile boolean shut;

    /** Waits for a share. */
    long readLock() { return lock.readLock(); }

    /** A share, or 0 when somebody is alone or waits for it, or the blocks must not be used as they are. */
    long tryReadLock() {
        return isAwaited() ? 0 : lock.tryReadLock();
    }

    /** Whether somebody waits to be alone, and nobody should keep a share for more than what it has begun. */
    boolean isAwaited() {
        return waiting.get() > 0 || shut;
    }

    /** Says, alone, whether the blocks must not be used as they are; who has waited for a share has to ask. */
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
