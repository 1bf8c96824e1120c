package lunar.rdma;

import java.util.concurrent.atomic.AtomicInteger;
import lunar.rdma.spi.ProviderReceiveQueue;
import org.jspecify.annotations.Nullable;

/**
 * Receives that many endpoints share, so that memory is needed for the messages of all rather than of each; made by
 * {@link ProtectionDomain#createSharedReceiveQueue}. A completion names the endpoint that took the receive, also if
 * that is closed meanwhile. May be posted to by any thread.
 */
public final class SharedReceiveQueue implements AutoCloseable {
    private final ProviderReceiveQueue provider;
    private final int depth;
    private final int segments;
    private final Runnable closed;

    /** Endpoints that take receives from here. */
    private final AtomicInteger users = new AtomicInteger();

    /** Slots that are free: the first {@link #freeCount}. All below is guarded by this. */
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

    /** Most receives that are posted at a time. */
    public int depth() { return depth; }

    /** Number of receives that are posted. */
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
                    + " pieces; the queue takes receives of up to " + segments);
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

    /** A receive has taken a message, or failed. */
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
     * Closes the queue; receives that no endpoint took end without a completion. Idempotent.
     *
     * @throws IllegalStateException if endpoints take receives from it; the queue remains open
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
