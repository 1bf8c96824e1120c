package lunar.osd.store.directory;

/** A daemon thread that repeats work at intervals until it is closed. */
final class BackgroundThread implements AutoCloseable {
    private final long intervalMs;
    private final Runnable round;
    private final Thread thread;
    private volatile boolean closed;

    /**
     * @param intervalMs pause before each round
     * @param round handles its own failures; the end of the thread interrupts it
     */
    BackgroundThread(String name, long intervalMs, Runnable round) {
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
            round.run();
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
