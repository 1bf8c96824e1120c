package lunar.raid;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Locks of stripes, shared or exclusive, first come, first served. Whoever has to wait is called when it has its lock.
 * Stripes share a fixed number of locks, so two stripes may wait for each other without need; whoever takes several
 * takes them in the order of {@link #order}.
 */
final class StripeLocks {
    static final int LOCKS = 1024;

    /** One that locks, or wants to. */
    static final class Holder {
        private final Runnable granted;
        private long stripe;
        private boolean exclusive;

        Holder(Runnable granted) { this.granted = granted; }

        boolean isExclusive() { return exclusive; }
    }

    /** Guarded by itself. */
    private static final class Lock {
        final ArrayDeque<Holder> waiting = new ArrayDeque<>(4);
        int holders;
        boolean exclusive;

        boolean admits(Holder holder) { return holders == 0 || (!exclusive && !holder.exclusive); }

        void admit(Holder holder) {
            holders++;
            exclusive = holder.exclusive;
        }
    }

    private final Lock[] locks = new Lock[LOCKS];

    StripeLocks() {
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new Lock();
        }
    }

    /** Where a stripe's lock comes in the order in which several are taken; the same for those that share one. */
    static int order(long stripe) {
        return (int) (stripe % LOCKS);
    }

    /** True where the lock is there at once; else the holder is called. */
    boolean acquire(Holder holder, long stripe, boolean exclusive) {
        holder.stripe = stripe;
        holder.exclusive = exclusive;
        Lock lock = locks[order(stripe)];
        synchronized (lock) {
            if (lock.waiting.isEmpty() && lock.admits(holder)) {
                lock.admit(holder);
                return true;
            }
            lock.waiting.add(holder);
            return false;
        }
    }

    void release(Holder holder) {
        Lock lock = locks[order(holder.stripe)];
        List<Holder> next = List.of();
        synchronized (lock) {
            lock.holders--;
            if (lock.waiting.isEmpty()) {
                return;
            }
            next = new ArrayList<>(1);
            while (!lock.waiting.isEmpty() && lock.admits(lock.waiting.getFirst())) {
                Holder admitted = lock.waiting.removeFirst();
                lock.admit(admitted);
                next.add(admitted);
            }
        }
        for (Holder one : next) {
            Trampoline.run(one.granted);
        }
    }
}
