package lunar.raid;

/** Waits to the end, whoever interrupts; the thread stays interrupted. */
final class Uninterrupted {
    private Uninterrupted() {}

    /** Something that waits, and can wait again. */
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
