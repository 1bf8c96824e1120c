package lunar.osd.store.directory;

/**
 * A daemon thread that repeats work at intervals until it is closed, or the work throws what it should not: no flush
 * succeeds then, as the store is not maintained any longer.
 */
final class BackgroundThread implements AutoCloseable {
    private final long intervalMs;
    private final StableStorage stability;
    private final Runnable round;
    private final Thread thread;
    private volatile boolean closed;

    /**
     * @param intervalMs pause before each round
     * @param stability is told what a round throws
     * @param round handles its own failures; the end of the thread interrupts it
     */
    BackgroundThread(String name, long intervalMs, StableStorage stability, Runnable round) {
        this.stability = stability;
        this.intervalMs = intervalMs;
        this.round = round;
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    void start() { thread.start(); }

    private void run() {
        while (!closed) {
            try {
                Thread.sleep(intervalMs);
            } catch (InterruptedException _) {
                return;
            }
            try {
                round.run();
            } catch (RuntimeException | Error e) {
                stability.ended(thread.getName(), e);
                return;
            }
        }
    }

    /** Whether the thread is to end, so that work in several parts stops between two of them. */
    boolean isClosed() {
        return closed;
    }

    /** Interrupts the thread and waits for its end. */
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
