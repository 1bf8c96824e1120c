package lunar.loop;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The right to run a loop. The leader is its own thread, a guest that waits for what the loop brings, or, between two
 * turns of guests, none (leader/followers, POSA 2). What belongs to the loop belongs to its leader.
 *
 * <p>No event is missed: a leader that leaves says so first, and then looks whether anything is to be done; a thread
 * that has something to be done says so first, and then looks whether there is a leader.
 */
final class Leadership {
    /** How long there may be no leader before the loop's own thread returns: the longest delay of an event. */
    private static final long VACANCY_NS = 1_000_000;

    private final AtomicReference<@Nullable Thread> leader = new AtomicReference<>();
    private final Thread own;
    /** Whether there is work for the loop's own thread. */
    private final BooleanSupplier pending;
    private volatile @Nullable BooleanSupplier idle;
    /** Turns of guests so far. */
    private final AtomicInteger terms = new AtomicInteger();
    /** Whether the loop's own thread is to return. */
    private volatile boolean wanted;
    /** Whether the loop's own thread waits for the leadership, and for nothing else. */
    private volatile boolean waiting;

    /** @param pending whether there is work for the loop's own thread; any thread asks */
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

    /** Ensures that there will be a leader: there is work, or an answer is to come that no guest waits for. */
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
     * Leaves the loop to guests, as long as they come one after the other and there is no work for the loop's own
     * thread.
     *
     * @param nothingExpected whether no event is expected that no guest waits for; any thread asks
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
