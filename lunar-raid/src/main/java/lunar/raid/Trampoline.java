package lunar.raid;

import java.util.ArrayDeque;

/**
 * Runs work that leads to more work on the same thread, one after the other: a member that completes a request before
 * its submit returns would otherwise make the stack grow with each step.
 */
final class Trampoline {
    private static final ThreadLocal<Trampoline> OF_THREAD = ThreadLocal
            .withInitial(Trampoline::new);

    private final ArrayDeque<Runnable> later = new ArrayDeque<>();
    private boolean running;

    private Trampoline() {}

    /** Runs work now, or after the work that this thread is running has returned. */
    static void run(Runnable work) {
        Trampoline own = OF_THREAD.get();
        if (own.running) {
            own.later.add(work);
            return;
        }
        own.running = true;
        try {
            work.run();
        } finally {
            own.runTheRest();
        }
    }

    /** Runs deferred work before this thread waits for something: no other thread would run it. */
    static void runBeforeWaiting() {
        Trampoline own = OF_THREAD.get();
        if (own.running) {
            own.runLater();
        }
    }

    /** Runs all deferred work, even if some of it throws. */
    private void runTheRest() {
        try {
            runLater();
        } finally {
            if (later.isEmpty()) {
                running = false;
            } else {
                runTheRest();
            }
        }
    }

    private void runLater() {
        for (Runnable next = later.poll(); next != null; next = later.poll()) {
            next.run();
        }
    }
}
