package lunar.raid.meta;

import org.jspecify.annotations.Nullable;

/** Waiters in the order of their arrival. */
final class WaitLine {
    private @Nullable Waiter first;
    private @Nullable Waiter last;

    boolean isEmpty() { return first == null; }

    @Nullable
    Waiter first() { return first; }

    void add(Waiter waiter) {
        waiter.next = null;
        if (last == null) {
            first = waiter;
        } else {
            last.next = waiter;
        }
        last = waiter;
    }

    @Nullable
    Waiter poll() {
        Waiter polled = first;
        if (polled != null) {
            first = polled.next;
            polled.next = null;
            if (first == null) {
                last = null;
            }
        }
        return polled;
    }

    /** Takes all of another line behind its own. */
    void takeAll(WaitLine other) {
        for (Waiter one = other.poll(); one != null; one = other.poll()) {
            add(one);
        }
    }
}
