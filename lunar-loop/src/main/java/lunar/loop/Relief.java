package lunar.loop;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Two threads that relieve each other, so that a loop can run work that may block without a switch of threads: one runs
 * the loop, and such work between two iterations; the other stands by. If the work takes longer than a millisecond or
 * two, the other thread takes over the loop, and the first stands by when the work has ended. Until then the loop
 * accepts no further work, so one hanging request costs one thread. Work that was not brief makes the loop accept none
 * for twenty times as long as it took, so that a loop spends little of its time in work that is slow in general.
 *
 * <p>The second thread is started with the first work. It looks at the loop every millisecond as long as there is work,
 * and sleeps after 20 ms without. Methods are for the thread that runs the loop, unless they say otherwise.
 */
final class Relief {
    private static final long PATIENCE_NS = 1_000_000;
    /** Looks without any work, after which the thread that stands by sleeps. */
    private static final int QUIET_LOOKS = 20;
    /** Work that takes longer is not brief. */
    private static final long BRIEF_NS = 200_000;
    /** How many times as long as work that was not brief the loop accepts none, up to the limit. */
    private static final long REST_FACTOR = 20;
    private static final long MAX_REST_NS = 10_000_000_000L;

    private final String name;
    private final Leadership leadership;
    private final BooleanSupplier loop;
    private final Consumer<Runnable> guard;

    private @Nullable Runnable work;
    private boolean started;

    /** The thread that stands by; null if there is none. */
    private volatile @Nullable Thread standby;
    private volatile boolean asleep;
    private volatile boolean rests;
    /** When to accept work again, if the loop {@link #rests}. */
    private volatile long restsUntilNs;
    /** How many works were begun. */
    private final AtomicLong works = new AtomicLong();
    private volatile boolean ended;

    /**
     * @param name of the second thread, a daemon
     * @param loop runs the loop; returns whether the caller was relieved, otherwise the loop has ended
     * @param guard runs a work and catches what it throws
     */
    Relief(String name, Leadership leadership, BooleanSupplier loop, Consumer<Runnable> guard) {
        this.name = name;
        this.leadership = leadership;
        this.loop = loop;
        this.guard = guard;
    }

    /** Runs the loop, and stands by when relieved, until the loop has ended. Main method of both threads. */
    void run() {
        try {
            boolean relieved = loop.getAsBoolean();
            while (relieved && standBy()) {
                relieved = loop.getAsBoolean();
            }
        } finally {
            ended = true;
            LockSupport.unpark(standby);
        }
    }

    /**
     * Accepts work to run after this iteration; returns false if there is some already, no thread to stand by, or the
     * loop rests from work.
     */
    boolean accept(Runnable what) {
        if (work != null || isResting() || !isManned()) {
            return false;
        }
        work = what;
        return true;
    }

    private boolean isResting() {
        if (rests && System.nanoTime() - restsUntilNs >= 0) {
            rests = false;
        }
        return rests;
    }

    private boolean isManned() {
        if (!started) {
            Thread second = Thread.ofPlatform().name(name).daemon().unstarted(() -> {
                if (standBy()) {
                    run();
                }
            });
            started = true;
            standby = second;
            try {
                second.start();
            } catch (OutOfMemoryError _) { // no thread to be had
                standby = null;
            }
        }
        return standby != null;
    }

    /** Whether work was accepted that has not run yet. */
    boolean hasWork() { return work != null; }

    /** Runs accepted work, if any. Returns false if the caller was relieved meanwhile. */
    boolean runWork() {
        Runnable accepted = work;
        if (accepted == null) {
            return true;
        }
        work = null;
        boolean _ = Thread.interrupted(); // a flag that a task of the loop has left
        long begunNs = System.nanoTime();
        long _ = works.incrementAndGet();
        leadership.leaveForWork();
        if (asleep) { // read after the leadership was left, which the other thread checks after it has set the flag
            LockSupport.unpark(standby);
        }
        guard.accept(accepted);
        rest(System.nanoTime() - begunNs);
        return leadership.returnFromWork();
    }

    private void rest(long tookNs) {
        if (tookNs > BRIEF_NS) {
            restsUntilNs = System.nanoTime() + Math.min(MAX_REST_NS, REST_FACTOR * tookNs);
            rests = true;
        }
    }

    /** Stands by until the loop has ended, or the caller has taken it over: then returns true. */
    private boolean standBy() {
        standby = Thread.currentThread();
        long seen = works.get();
        int quiet = 0;
        while (!ended) {
            if (quiet < QUIET_LOOKS) {
                LockSupport.parkNanos(this, PATIENCE_NS);
            } else {
                sleep(seen);
            }
            boolean _ = Thread.interrupted(); // which would make every wait return at once
            if (works.get() != seen) {
                seen = works.get();
                quiet = 0;
            } else if (!leadership.isLeftForWork()) {
                quiet++;
            } else if (takeOver()) {
                return true;
            }
        }
        standby = null;
        return false;
    }

    /** Sleeps until there is work. */
    private void sleep(long seen) {
        asleep = true;
        if (works.get() == seen && !leadership.isLeftForWork() && !ended) {
            LockSupport.park(this);
        }
        asleep = false;
    }

    private boolean takeOver() {
        standby = null; // before the caller accepts work
        if (leadership.takeOver()) {
            return true;
        }
        standby = Thread.currentThread();
        return false;
    }
}
