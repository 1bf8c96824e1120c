package lunar.store;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import lunar.block.BlockRequest;
import org.jspecify.annotations.Nullable;

/**
 * Bounded lock-free queue of requests from any thread to one consumer, without allocation. After it is closed it
 * accepts no more, and a consumer that finds it closed and empty has missed none.
 */
final class RequestQueue {
    /** The result of an offer. */
    enum Answer {
        TAKEN, FULL, CLOSED
    }

    /** Bit of the tail that says so; the rest of it continues counting. */
    private static final long CLOSED = Long.MIN_VALUE;

    private final AtomicReferenceArray<@Nullable BlockRequest> places;
    private final int capacity;
    private final AtomicLong tail = new AtomicLong();
    /** Changed by the thread that takes. */
    private final AtomicLong head = new AtomicLong();

    /** @param capacity requests that may wait, a power of two */
    RequestQueue(int capacity) {
        this.capacity = capacity;
        this.places = new AtomicReferenceArray<>(capacity);
    }

    Answer offer(BlockRequest request) {
        long at;
        do {
            at = tail.get();
            if (at < 0) {
                return Answer.CLOSED;
            }
            if (at - head.get() >= capacity) {
                return Answer.FULL;
            }
        } while (!tail.compareAndSet(at, at + 1));
        places.set(place(at), request);
        return Answer.TAKEN;
    }

    /** Returns the next request; null if there is none, or where an offer has only reserved its place so far. */
    @Nullable
    BlockRequest poll() {
        long at = head.get();
        BlockRequest next = places.getAcquire(place(at));
        if (next != null) {
            places.setRelease(place(at), null);
            head.setRelease(at + 1);
        }
        return next;
    }

    /** Whether each place that was reserved has been polled. */
    boolean isEmpty() {
        return (tail.get() & ~CLOSED) == head.get();
    }

    boolean isClosed() { return tail.get() < 0; }

    void close() { tail.updateAndGet(now -> now | CLOSED); }

    private int place(long at) { return (int) at & (capacity - 1); }
}
