package lunar.block.channel;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import org.jspecify.annotations.Nullable;

/**
 * Gives a device no more requests at once than any device takes, and keeps the rest until others have ended, first
 * come, first served.
 */
final class RequestWindow {
    /**
     * Requests that the device has at once. A store refuses more than a few thousand with {@link
     * lunar.block.BusyException}.
     */
    static final int MAX_AT_DEVICE = 1024;

    /** Requests kept back before new operations are refused. */
    static final int MAX_WAITING = 1 << 16;

    private final BlockDevice device;
    private final ReentrantLock lock = new ReentrantLock();
    /** These two are guarded by the lock. */
    private final Queue<BlockRequest> waiting = new ArrayDeque<>();
    private int atDevice;
    /** Ends whose successors are still to be submitted: by one thread, so that a chain of them is no recursion. */
    private final AtomicInteger ends = new AtomicInteger();

    RequestWindow(BlockDevice device) { this.device = device; }

    /** Whether so many requests wait that no new operation should begin. */
    boolean isFull() {
        lock.lock();
        try {
            return waiting.size() >= MAX_WAITING;
        } finally {
            lock.unlock();
        }
    }

    /** Submits a request, now or later. Its end is told as {@link BlockDevice#submit} tells it. */
    void submit(BlockRequest request, BlockRequest.Completion end) {
        request.onCompletion((done, failure) -> {
            end.completed(done, failure);
            ended();
        });
        lock.lock();
        try {
            if (atDevice == MAX_AT_DEVICE) {
                waiting.add(request);
                return;
            }
            atDevice++;
        } finally {
            lock.unlock();
        }
        device.submit(request);
    }

    private void ended() {
        if (ends.getAndIncrement() > 0) {
            return; // the thread that counted the first end handles this one, too
        }
        do {
            BlockRequest next = next();
            if (next != null) {
                device.submit(next);
            }
        } while (ends.decrementAndGet() > 0);
    }

    private @Nullable BlockRequest next() {
        lock.lock();
        try {
            BlockRequest next = waiting.poll();
            if (next == null) {
                atDevice--;
            }
            return next;
        } finally {
            lock.unlock();
        }
    }
}
