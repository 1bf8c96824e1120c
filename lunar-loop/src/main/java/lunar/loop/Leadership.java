package lunar.loop;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The exclusive right to run a loop (leader/followers pattern, POSA 2). The leader is the loop's own thread, a guest
 * that waits for an event of the loop, or, between two guests, none. State of the loop is confined to its leader.
 *
 * <p>The loop's own thread is one of two that relieve each other ({@link Relief}): it gives the leadership up while it
 * runs work that may block, and the other can take over the loop then, but no guest.
 *
 * <p>No event is missed: a leader that leaves first announces it and then checks for work; a thread with work first
 * announces it and then checks for a leader.
 */
final class Leadership {
    /** Time without a leader after which the loop's own thread returns: the maximum delay of an event. */
    private static final long VACANCY_NS = 1_000_000;

    /** Leads while the loop's own thread runs work that may block. */
    private static final Thread NOBODY = Thread.ofPlatform().unstarted(() -> {});

    private final AtomicReference<@Nullable Thread> leader = new AtomicReference<>();
    private volatile Thread own;
    /** Whether there is work for the loop's own thread. */
    private final BooleanSupplier pending;
    private volatile @Nullable BooleanSupplier idle;
    /** Turns of guests so far. */
    private final AtomicInteger terms = new AtomicInteger();
    /** Whether the loop's own thread is to return. */
    private volatile boolean wanted;
    /** Whether the loop's own thread is waiting for leadership. */
    private volatile boolean waiting;

    /** @param pending whether there is work for the loop's own thread; called by any thread */
    Leadership(Thread own, BooleanSupplier pending) {
        this.own = own;
        this.pending = pending;
    }

    /** Whether the caller leads. */
    boolean isMine() {
        return Thread.currentThread().equals(leader.get());
    }

    /** Whether the caller leads, and is a guest. */
    boolean isGuests() {
        return isMine() && !Thread.currentThread().equals(own);
    }

    /**
     * Ensures that there will be a leader, because there is work, or a response is expected that no guest waits for.
     */
    void needed() {
        if (leader.get() == null) {
            recall();
        }
    }

    private void recall() {
        wanted = true;
        LockSupport.unpark(own);
    }

    // --- the loop's own thread ---

    /** Takes the leadership; waits for a guest to leave. */
    void begin() {
        waiting = true;
        while (!leader.compareAndSet(null, own)) {
            LockSupport.park(this);
            boolean _ = Thread.interrupted();
        }
        waiting = false;
        wanted = false;
    }

    /**
     * Leaves the loop to guests, as long as guests follow each other and there is no work for the loop's own thread.
     *
     * @param nothingExpected whether only events that guests wait for are expected; called by any thread
     */
    void lend(BooleanSupplier nothingExpected) {
        idle = nothingExpected;
        leader.set(null);
        if (nothingExpected.getAsBoolean()) {
            int before;
            do {
                before = terms.get();
                LockSupport.parkNanos(this, VACANCY_NS);
            } while (terms.get() != before && !wanted && !pending.getAsBoolean());
        }
        begin();
        idle = null;
    }

    // --- relief of the loop's own thread ---

    /** Gives the leadership up for work that may block. On the loop's own thread. */
    void leaveForWork() {
        leader.set(NOBODY);
    }

    /** Takes the leadership back after the work. Returns false if another thread has taken over the loop. */
    boolean returnFromWork() {
        return leader.compareAndSet(NOBODY, Thread.currentThread());
    }

    /** Whether the loop's own thread runs work that may block. */
    boolean isLeftForWork() {
        return NOBODY.equals(leader.get());
    }

    /** Makes the caller the loop's own thread and the leader, if {@link #isLeftForWork}. Returns whether it did. */
    boolean takeOver() {
        if (!leader.compareAndSet(NOBODY, Thread.currentThread())) {
            return false;
        }
        own = Thread.currentThread();
        return true;
    }

    // --- guests ---

    /** Takes the leadership, if the loop is lent and has no leader. */
    boolean take() {
        Thread guest = Thread.currentThread();
        if (wanted || guest.isVirtual() || leader.get() != null
                || !leader.compareAndSet(null, guest)) {
            return false;
        }
        int _ = terms.incrementAndGet();
        return true;
    }

    /** Whether the guest is to leave, whatever it waits for. */
    boolean isWanted() {
        return wanted || pending.getAsBoolean();
    }

    /** Gives the leadership up. */
    void leave() {
        leader.set(null);
        BooleanSupplier nothingExpected = idle;
        if (waiting || isWanted() || nothingExpected == null || !nothingExpected.getAsBoolean()) {
            recall();
        }
    }
}
