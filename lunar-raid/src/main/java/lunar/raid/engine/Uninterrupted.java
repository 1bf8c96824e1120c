package lunar.raid.engine;

/** Waits to the end despite interrupts; the thread stays interrupted. */
final class Uninterrupted {
    private Uninterrupted() {}

    /** A wait that can be repeated. */
    @FunctionalInterface
    interface Wait {
        void run() throws InterruptedException;
    }

    static void run(Wait wait) {
        boolean isInterrupted = false;
        while (true) {
            try {
                wait.run();
                break;
            } catch (InterruptedException _) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
