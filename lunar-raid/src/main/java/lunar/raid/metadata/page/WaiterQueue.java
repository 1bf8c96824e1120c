package lunar.raid.metadata.page;

import org.jspecify.annotations.Nullable;

/** Waiters in the order of their arrival. */
public final class WaiterQueue {
    private @Nullable Waiter first;
    private @Nullable Waiter last;

    public boolean isEmpty() { return first == null; }

    public @Nullable Waiter first() { return first; }

    public void add(Waiter waiter) {
        waiter.next = null;
        if (last == null) {
            first = waiter;
        } else {
            last.next = waiter;
        }
        last = waiter;
    }

    public @Nullable Waiter poll() {
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
    public void takeAll(WaiterQueue other) {
        for (Waiter one = other.poll(); one != null; one = other.poll()) {
            add(one);
        }
    }
}
