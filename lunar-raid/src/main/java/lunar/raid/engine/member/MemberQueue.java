package lunar.raid.engine.member;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.StorageException;

/**
 * Queues the requests of a volume to one member. Up to a window of them are in flight, the others wait here, first
 * come, first served.
 *
 * <p><b>Busy members.</b> BUSY, TASK SET FULL (SAM-5 section 5.3.1) and a full queue of workers say that a member has
 * too much to do, not that it is broken. A request that is refused in this way goes back to the head of the queue, and
 * the window shrinks to what the member has taken; it grows again by one for each window of successes. The queue moves
 * on with the next request that the member ends. If the member has none, the queue pauses with exponential backoff.
 * After {@link #MAX_PAUSES} pauses in a row in which the member has answered nothing else, or as many ticks as a member
 * may stay silent ({@link lunar.raid.FailurePolicy#stallTicks}), the refusal counts as a failure.
 *
 * <p>For any thread. A request that finds room takes no lock.
 */
public final class MemberQueue implements Runnable {
    /** A request of the queue; {@link #run} starts it, after {@link #admitted}. */
    interface Entry extends Runnable {
        /** Called when the queue admits the request. */
        void admitted();

        /** Ends the request without its having been admitted. */
        void refuse(StorageException why);
    }

    /** Smallest initial window: a device may report its number of threads only, and queue more by itself. */
    public static final int MIN_DEPTH = 128;
    /** Number of waiting requests from which reads go through stripe tasks, whose number is bounded. */
    static final int LONG_QUEUE = 1024;
    /** With pauses of 10 to 640 ms about a minute. */
    public static final int MAX_PAUSES = 100;
    private static final int MAX_DOUBLINGS = 6;

    private final int depth;
    private final AtomicInteger running = new AtomicInteger();
    private volatile int window;
    /** Guarded by this, as are all fields that are not volatile. */
    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private volatile int waiting;
    private volatile boolean isRefusing;
    private int successes;
    private int pauses;
    /** The tick of the first pause in a row. */
    private int refusedSince;
    private int roundsLeft;
    private boolean isResting;
    private boolean isGivenUp;
    private Executor later = Runnable::run;

    /** @param depth requests that the member wants at once ({@link lunar.block.Limits#queueDepth}) */
    MemberQueue(int depth) {
        this.depth = Math.max(depth, MIN_DEPTH);
        window = this.depth;
    }

    /** Whether so many requests wait that more should wait elsewhere. */
    public boolean isLong() {
        return waiting >= LONG_QUEUE;
    }

    /** Returns how many requests may be in flight now. */
    public int window() { return window; }

    /** Starts a request, now or when its turn comes. */
    void enter(Entry entry) {
        if (waiting == 0) {
            if (running.incrementAndGet() <= window) {
                entry.admitted();
                entry.run();
                return;
            }
            running.decrementAndGet();
        }
        synchronized (this) {
            entries.add(entry);
            waiting = entries.size();
        }
        serve();
    }

    /**
     * Called when the member has executed a request, or a piece of one, or has failed it other than by being too busy.
     * This ends the pauses in a row: refusals before and after it are not of one busy spell.
     */
    void answered(boolean isSuccess) {
        if (isRefusing) {
            endPauses(isSuccess);
        }
    }

    /** Called when a request has ended and was not taken back. */
    void left() {
        running.decrementAndGet();
        if (waiting > 0) {
            serve();
        }
    }

    private synchronized void endPauses(boolean isSuccess) {
        pauses = 0;
        if (isSuccess && ++successes >= window) {
            successes = 0;
            window = Math.min(depth, window + 1);
            isRefusing = window < depth;
        }
    }

    /**
     * Takes back a request for which the member was too busy; it waits again.
     *
     * @param pause runs work a moment later
     * @param now ticks so far
     * @param patience ticks of pauses in a row after which the queue gives up; 0 for no limit
     * @return false if the patience is exhausted, or the member is failed: then the request is to fail
     */
    boolean takesBack(Entry entry, Executor pause, int now, int patience) {
        synchronized (this) {
            if (isGivenUp) {
                return false;
            }
            isRefusing = true;
            successes = 0;
            entries.addFirst(entry);
            waiting = entries.size();
            int left = running.decrementAndGet();
            window = Math.max(1, Math.min(window, left));
            if (left > 0) {
                return true;
            }
            refusedSince = pauses == 0 ? now : refusedSince;
            boolean isEnough = patience > 0 && now - refusedSince >= patience;
            if (++pauses > MAX_PAUSES || isEnough) {
                entries.removeFirst();
                waiting = entries.size();
                running.incrementAndGet();
                return false;
            }
            if (isResting) {
                return true;
            }
            isResting = true;
            roundsLeft = 1 << Math.min(pauses - 1, MAX_DOUBLINGS);
            later = pause;
        }
        pause.execute(this);
        return true;
    }

    /** Ends a round of a pause. */
    @Override
    public void run() {
        Executor again = null;
        synchronized (this) {
            if (isResting && --roundsLeft > 0) {
                again = later;
            } else {
                isResting = false;
            }
        }
        if (again == null) {
            serve();
        } else {
            again.execute(this);
        }
    }

    private void serve() {
        while (true) {
            Entry next;
            synchronized (this) {
                if (entries.isEmpty() || isResting || !takesPlace()) {
                    return;
                }
                next = entries.remove();
                waiting = entries.size();
            }
            next.admitted();
            Trampoline.run(next);
        }
    }

    private boolean takesPlace() {
        if (running.incrementAndGet() <= window) {
            return true;
        }
        running.decrementAndGet();
        return false;
    }

    /** Gives the member up: requests that wait fail, and so do those that the member refuses from now on. */
    public void giveUp(StorageException why) {
        List<Entry> refused;
        synchronized (this) {
            isGivenUp = true;
            isResting = false;
            refused = new ArrayList<>(entries);
            entries.clear();
            waiting = 0;
        }
        refused.forEach(entry -> Trampoline.run(() -> entry.refuse(why)));
    }
}
