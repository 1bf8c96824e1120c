package lunar.osd.s3.http;

/**
 * A thread that may wait for its client. When it waits too long, it is interrupted, which closes the connection;
 * outside of a wait it is not interrupted. Thread-safe.
 */
final class ClientWait {
    private final Thread thread;
    /** When the wait ends, of {@link System#nanoTime}. Guarded by this. */
    private long deadlineNs;
    private boolean waiting;
    private boolean expired;

    ClientWait(Thread thread) { this.thread = thread; }

    synchronized void begin(long timeoutNs) {
        deadlineNs = System.nanoTime() + timeoutNs;
        waiting = true;
    }

    synchronized void end() {
        waiting = false;
        if (expired) {
            expired = false;
            var _ = Thread.interrupted(); // by expire
        }
    }

    synchronized void expire(long nowNs) {
        if (waiting && !expired && nowNs - deadlineNs > 0) {
            expired = true;
            thread.interrupt();
        }
    }
}
