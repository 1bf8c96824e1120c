package lunar.raid.engine.stripe;

import lunar.raid.engine.member.Trampoline;
import org.jspecify.annotations.Nullable;

/**
 * Locks of stripes, shared or exclusive, first come, first served. A holder that has to wait is called when it has its
 * lock. Stripes share a fixed number of locks, so two stripes may wait for each other without need; a caller that takes
 * several takes them in the order of {@link #order}.
 */
public final class StripeLocks {
    public static final int LOCKS = 1024;

    /** A holder of a lock, or a waiter for it. */
    static final class Holder {
        private final Runnable granted;
        private long stripe;
        private boolean exclusive;
        /** The holder that waits behind this one, or is admitted together with it. */
        private @Nullable Holder next;

        Holder(Runnable granted) { this.granted = granted; }

        boolean isExclusive() { return exclusive; }
    }

    /** Guarded by itself. */
    private static final class Lock {
        private @Nullable Holder first;
        private @Nullable Holder last;
        private int holders;
        private boolean exclusive;

        void await(Holder holder) {
            holder.next = null;
            if (last == null) {
                first = holder;
            } else {
                last.next = holder;
            }
            last = holder;
        }

        boolean admits(Holder holder) { return holders == 0 || (!exclusive && !holder.exclusive); }

        void admit(Holder holder) {
            holders++;
            exclusive = holder.exclusive;
        }

        /** Admits the waiting holders that may have the lock now; returns them in order, or null if there are none. */
        @Nullable
        Holder admitWaiting() {
            Holder front = first;
            Holder end = null;
            while (first != null && admits(first)) {
                admit(first);
                end = first;
                first = first.next;
            }
            if (end == null) {
                return null;
            }
            end.next = null;
            last = first == null ? null : last;
            return front;
        }
    }

    private final Lock[] locks = new Lock[LOCKS];

    StripeLocks() {
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new Lock();
        }
    }

    /** Returns the position of a stripe's lock in the locking order; equal for stripes that share one. */
    public static int order(long stripe) {
        return (int) (stripe % LOCKS);
    }

    /** Acquires a lock; returns false if the holder has to wait and is called later. */
    boolean acquire(Holder holder, long stripe, boolean exclusive) {
        holder.stripe = stripe;
        holder.exclusive = exclusive;
        Lock lock = locks[order(stripe)];
        synchronized (lock) {
            if (lock.first == null && lock.admits(holder)) {
                lock.admit(holder);
                return true;
            }
            lock.await(holder);
            return false;
        }
    }

    void release(Holder holder) {
        Lock lock = locks[order(holder.stripe)];
        Holder admitted;
        synchronized (lock) {
            lock.holders--;
            admitted = lock.admitWaiting();
        }
        while (admitted != null) {
            Holder one = admitted;
            admitted = one.next; // before it can wait again
            Trampoline.run(one.granted);
        }
    }
}
