package lunar.rdma;

import java.util.concurrent.atomic.AtomicInteger;
import lunar.rdma.spi.ProviderReceiveQueue;
import org.jspecify.annotations.Nullable;

/**
 * Receive queue that several endpoints share (SRQ), so that buffers are needed for the messages of all endpoints
 * together rather than of each one. Created by {@link ProtectionDomain#createSharedReceiveQueue}. A completion names
 * the endpoint that took the receive, even if that has been closed since. Thread-safe.
 */
public final class SharedReceiveQueue implements AutoCloseable {
    private final ProviderReceiveQueue provider;
    private final int depth;
    private final int segments;
    private final Runnable closed;

    /** Number of open endpoints that take receives from this queue. */
    private final AtomicInteger users = new AtomicInteger();

    /** Free slots: the first {@link #freeCount} entries. This and all fields below are guarded by this. */
    private final int[] free;
    private int freeCount;
    private final long[] contexts;
    private final @Nullable Object[] attachments;
    private final @Nullable RegisteredMemory[] memory;
    private boolean isClosed;

    SharedReceiveQueue(ProviderReceiveQueue provider, int depth, int segments, Runnable closed) {
        this.provider = provider;
        this.depth = depth;
        this.segments = segments;
        this.closed = closed;
        free = new int[depth];
        for (int i = 0; i < depth; i++) {
            free[i] = depth - 1 - i;
        }
        freeCount = depth;
        contexts = new long[depth];
        attachments = new Object[depth];
        memory = new RegisteredMemory[depth * segments];
    }

    ProviderReceiveQueue provider() { return provider; }

    AtomicInteger users() { return users; }

    /** Most receives that can be posted at a time. */
    public int depth() { return depth; }

    /** Number of posted receives whose completions have not been polled. */
    public synchronized int posted() {
        return depth - freeCount;
    }

    /**
     * Posts a receive.
     *
     * @throws QueueFullException if {@link #depth} receives are posted
     * @throws MemoryInUseException if memory of the request has been given back or deregistered
     */
    public synchronized void post(WorkRequest request) throws RdmaException {
        if (isClosed) {
            throw new IllegalStateException("shared receive queue is closed");
        }
        if (request.operation() != Operation.RECEIVE || request.segments() > segments) {
            throw new IllegalArgumentException(request.operation() + " of " + request.segments()
                    + " segments; the queue takes receives of up to " + segments);
        }
        if (freeCount == 0) {
            throw new QueueFullException("all " + depth + " receives are posted");
        }
        int slot = free[freeCount - 1];
        for (int i = 0; i < request.segments(); i++) {
            if (!request.memory(i).acquire()) {
                release(slot);
                throw new MemoryInUseException(
                        "not posted: memory has been given back or deregistered");
            }
            memory[slot * segments + i] = request.memory(i);
        }
        boolean posted = false;
        try {
            posted = provider.post(request, Long.MIN_VALUE | slot);
        } finally {
            if (!posted) {
                release(slot);
            }
        }
        if (!posted) {
            throw new QueueFullException("the device takes no more receives at the moment");
        }
        freeCount--;
        contexts[slot] = request.context();
        attachments[slot] = request.attachment();
    }

    /** Completes a receive, which has taken a message or failed. */
    synchronized boolean complete(int slot, Endpoint taker, Completion into) {
        into.set(taker, Operation.RECEIVE, contexts[slot], attachments[slot]);
        attachments[slot] = null;
        release(slot);
        free[freeCount++] = slot;
        return true;
    }

    private void release(int slot) {
        for (int i = slot * segments; i < (slot + 1) * segments; i++) {
            RegisteredMemory used = memory[i];
            memory[i] = null;
            if (used != null) {
                used.release();
            }
        }
    }

    /**
     * Closes the queue. Receives that no endpoint has taken end without a completion. Idempotent.
     *
     * @throws IllegalStateException if open endpoints use the queue; it remains open
     */
    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        if (users.get() > 0) {
            throw new IllegalStateException("shared receive queue is not closed: " + users.get()
                    + " endpoints use it");
        }
        isClosed = true;
        provider.close();
        for (int slot = 0; slot < depth; slot++) {
            release(slot);
        }
        closed.run();
    }
}
