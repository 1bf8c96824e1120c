package lunar.raid.engine.member;

import java.util.ArrayDeque;

/**
 * Runs work that leads to more work on the same thread, one after the other: a member that completes a request before
 * its submit returns would otherwise make the stack grow with each step.
 */
public final class Trampoline {
    private static final ThreadLocal<Trampoline> OF_THREAD = ThreadLocal
            .withInitial(Trampoline::new);

    private final ArrayDeque<Runnable> later = new ArrayDeque<>();
    private boolean running;

    private Trampoline() {}

    /** Runs work now, or after the work that this thread is running has returned. */
    public static void run(Runnable work) {
        Trampoline own = OF_THREAD.get();
        own.later.add(work);
        if (!own.running) {
            own.runAll();
        }
    }

    /** Runs deferred work before this thread waits for something: no other thread would run it. */
    public static void runBeforeWaiting() {
        Trampoline own = OF_THREAD.get();
        if (own.running) {
            own.runLater();
        }
    }

    /** Runs all work, even if some of it throws: the first failure is thrown when all has run. */
    private void runAll() {
        running = true;
        Throwable failure = null;
        while (!later.isEmpty()) {
            try {
                runLater();
            } catch (RuntimeException | Error e) {
                failure = failure == null ? e : failure;
            }
        }
        running = false;
        switch (failure) {
            case null -> {
            }
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new AssertionError(failure);
        }
    }

    private void runLater() {
        for (Runnable next = later.poll(); next != null; next = later.poll()) {
            next.run();
        }
    }
}
