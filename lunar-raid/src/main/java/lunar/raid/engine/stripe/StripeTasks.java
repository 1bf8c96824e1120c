package lunar.raid.engine.stripe;

import java.util.ArrayDeque;

/**
 * The bounded pool of stripe tasks of an engine. A request that finds no free task waits, first come, first served. For
 * any thread.
 */
public final class StripeTasks {
    /** A request that needs a stripe task for each of its ranges. */
    interface Seeker {
        /** Starts a task on the next range; returns false if no further range waits. */
        boolean take(StripeTask task);
    }

    private final StripeEngine engine;
    /** Guarded by itself, as the next two. */
    private final ArrayDeque<StripeTask> freeTasks = new ArrayDeque<>();
    private final ArrayDeque<Seeker> seekers = new ArrayDeque<>();
    private int madeTasks;

    public StripeTasks(StripeEngine engine) { this.engine = engine; }

    public StripeEngine engine() { return engine; }

    /** Gives a request stripe tasks for all its ranges, now or as they become free. */
    void seek(Seeker request) {
        while (true) {
            StripeTask task;
            synchronized (freeTasks) {
                if (!seekers.isEmpty()) {
                    seekers.add(request);
                    return;
                }
                task = freeTasks.poll();
                if (task == null && madeTasks == engine.options.stripeTasks()) {
                    seekers.add(request);
                    return;
                }
                if (task == null) {
                    madeTasks++;
                }
            }
            if (!request.take(task == null ? new StripeTask(engine) : task)) {
                return;
            }
        }
    }

    /** Returns a task to the pool, or hands it to the first request that waits. */
    void giveBack(StripeTask task) {
        Seeker next;
        synchronized (freeTasks) {
            next = seekers.poll();
            if (next == null) {
                freeTasks.push(task);
                return;
            }
        }
        if (next.take(task)) {
            synchronized (freeTasks) {
                seekers.addFirst(next);
            }
            feed();
        }
    }

    /** Hands free tasks to waiting requests: a task may have become free while no request was in the queue. */
    private void feed() {
        while (true) {
            StripeTask task;
            Seeker next;
            synchronized (freeTasks) {
                if (seekers.isEmpty() || freeTasks.isEmpty()) {
                    return;
                }
                task = freeTasks.remove();
                next = seekers.remove();
            }
            if (next.take(task)) {
                synchronized (freeTasks) {
                    seekers.addFirst(next);
                }
            }
        }
    }
}
