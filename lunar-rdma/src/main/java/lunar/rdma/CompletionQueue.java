package lunar.rdma;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import lunar.rdma.spi.ProviderQueue;
import lunar.rdma.spi.RawCompletions;
import org.jspecify.annotations.Nullable;

/**
 * Completion queue: reports the operations that have completed. Created by {@link EventChannel#createCompletionQueue}.
 * It has room for all operations that its endpoints can post, so it never overflows. For the thread of its channel.
 */
public final class CompletionQueue implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");
    private static final int MAX_QUEUES = 1 << 16;
    private static final int SHARED_BIT_SHIFT = 63;

    private final ProviderQueue provider;
    private final int depth;
    private final Consumer<CompletionQueue> closed;

    /** Completions that the provider has reported; those from {@link #next} on have not been polled yet. */
    private final RawCompletions reported;
    private int next;
    /** Receive queues of closed endpoints that have taken shared receives, by identity. */
    private final Map<Integer, Departed> departed = new HashMap<>();

    /** Work queues that report here, by the lower half of their identities; the array is replaced on change. */
    private volatile @Nullable WorkQueue[] queues = new WorkQueue[4];
    /**
     * Upper half of the latest identity, which distinguishes late reports of a removed queue from those of its
     * successor. Guarded by this.
     */
    private int generation;
    /** Room reserved for the operations of endpoints. Guarded by this. */
    private int committed;
    private boolean isClosed;

    /** A receive queue whose endpoint has been closed. */
    private static final class Departed {
        private final WorkQueue queue;
        /** Completions of shared receives that have been fetched and not polled yet. */
        private int left;

        Departed(WorkQueue queue, int left) {
            this.queue = queue;
            this.left = left;
        }
    }

    CompletionQueue(ProviderQueue provider, int depth, Consumer<CompletionQueue> closed) {
        this.provider = provider;
        this.depth = depth;
        this.closed = closed;
        reported = new RawCompletions(Math.min(depth, 64));
    }

    ProviderQueue provider() { return provider; }

    /** Number of completions that the queue has room for. */
    public int depth() { return depth; }

    /** Number of operations for which further endpoints can still be created. */
    public synchronized int room() {
        return depth - committed;
    }

    /**
     * Takes available completions without waiting.
     *
     * @param batch receives the completions, from index 0 on
     * @return number of completions
     */
    public int poll(Completions batch) throws RdmaException {
        int count = 0;
        int most = batch.capacity();
        boolean askDevice = true;
        while (count < most && (hasReported() || askDevice)) {
            if (!hasReported()) {
                reported.clear();
                next = 0;
                // A device that has filled less than the room had no more. With libfabric, asking costs system calls.
                askDevice = provider.poll(reported) > 0 && reported.room() == 0;
            }
            while (count < most && hasReported()) {
                if (take(next++, batch.get(count))) {
                    count++;
                }
            }
        }
        return count;
    }

    /** Whether completions have been fetched for the next poll. */
    boolean hasReported() {
        return next < reported.size();
    }

    /** Whether there is something to poll, as far as that can be found out cheaply. */
    boolean isReady() throws RdmaException {
        return hasReported() || (provider.isCheapToPoll() && fetch() > 0);
    }

    /**
     * Arms the queue, so that the next completion ends a wait.
     *
     * @return whether there is nothing to poll, so that the caller can wait
     */
    boolean arm() throws RdmaException {
        return !hasReported() && provider.arm() && fetch() == 0;
    }

    /** Fetches completions of the provider, behind those that have been fetched before. */
    private int fetch() throws RdmaException {
        if (!hasReported()) {
            reported.clear();
            next = 0;
        }
        if (reported.room() == 0) {
            reported.grow();
        }
        return provider.poll(reported);
    }

    /** Fetches all completions that the provider has. */
    void drain() throws RdmaException {
        int fetched;
        do {
            fetched = fetch();
        } while (fetched > 0);
    }

    /** Reports an operation, behind those that have been reported before. */
    void report(long id, CompletionStatus status, int code) {
        if (reported.room() == 0) {
            reported.grow();
        }
        reported.addResult(id, status, code);
    }

    private boolean take(int at, Completion into) {
        long id = reported.id(at);
        int number = (int) id;
        CompletionStatus status = reported.status(at);
        int bytes = reported.bytes(at);
        int code = reported.code(at);
        int invalidated = reported.invalidated(at);
        int shared = reported.shared(at);
        boolean success = status == CompletionStatus.SUCCESS;
        boolean isShared = isShared(id);
        WorkQueue queue = isShared ? taker(shared) : queue((int) (id >>> Integer.SIZE));
        if (queue == null) {
            return false; // the endpoint has been closed
        }
        if (!isShared && queue.keepsEarly(number, status, code)) {
            return false;
        }
        boolean report = isShared
                ? queue.owner().shared().complete(number, queue.owner(), into)
                : queue.complete(number, success, into);
        into.result(status, bytes, code, invalidated);
        if (!isShared) {
            queue.reportKept(this);
        }
        if (!success && status != CompletionStatus.FLUSHED) {
            queue.owner().operationFailed();
        }
        return report;
    }

    private static boolean isShared(long id) { return id >>> SHARED_BIT_SHIFT != 0; }

    /** Returns the receive queue of the endpoint that has taken a shared receive; the endpoint may be closed. */
    private @Nullable WorkQueue taker(int identity) {
        WorkQueue queue = queue(identity);
        if (queue != null) {
            return queue;
        }
        Departed gone = departed.get(identity);
        if (gone == null) {
            LOG.log(System.Logger.Level.WARNING, "shared receive taken by unknown endpoint {0}",
                    identity);
            return null;
        }
        if (--gone.left == 0) {
            departed.remove(identity);
        }
        return gone.queue;
    }

    /**
     * Keeps the receive queue of an endpoint that is being closed until the shared receives that it has taken have been
     * polled, since they belong to the shared queue. All completions of the endpoint have been {@linkplain #drain
     * fetched}.
     */
    void keep(WorkQueue queue) {
        int left = 0;
        for (int at = next; at < reported.size(); at++) {
            if (isShared(reported.id(at)) && reported.shared(at) == queue.identity()) {
                left++;
            }
        }
        if (left > 0) {
            departed.put(queue.identity(), new Departed(queue, left));
        }
    }

    private @Nullable WorkQueue queue(int identity) {
        @Nullable
        WorkQueue[] all = queues;
        int index = identity & (MAX_QUEUES - 1);
        WorkQueue queue = index < all.length ? all[index] : null;
        return queue != null && queue.identity() == identity ? queue : null;
    }

    /**
     * Adds a work queue that will report here, and gives it an identity: the upper half of the ids of its operations.
     */
    synchronized void add(WorkQueue queue, int room) throws QueueFullException {
        if (isClosed) {
            throw new IllegalStateException("completion queue is closed");
        }
        if (room > depth - committed) {
            throw new QueueFullException("completion queue of depth " + depth
                    + " has room for " + (depth - committed) + " more operations, not " + room);
        }
        @Nullable
        WorkQueue[] all = queues;
        int index = 0;
        while (index < all.length && all[index] != null) {
            index++;
        }
        if (index == MAX_QUEUES) {
            throw new QueueFullException("completion queue has " + MAX_QUEUES + " queues");
        }
        generation = generation % Short.MAX_VALUE + 1; // never 0, and no identity is negative
        queue.identify(generation << 16 | index);
        all = Arrays.copyOf(all, index < all.length ? all.length : 2 * index);
        all[index] = queue;
        queues = all;
        committed += room;
    }

    /** Removes a work queue; later reports of its operations are dropped. */
    synchronized void remove(WorkQueue queue, int room) {
        @Nullable
        WorkQueue[] all = queues.clone();
        all[queue.identity() & (MAX_QUEUES - 1)] = null;
        queues = all;
        committed -= room;
    }

    /**
     * Closes the queue. Completions that have not been polled are dropped, and the memory of their operations is
     * released. Idempotent.
     *
     * @throws IllegalStateException if open endpoints report to the queue; it remains open
     */
    @Override
    public void close() {
        synchronized (this) {
            if (isClosed) {
                return;
            }
            if (committed > 0) {
                throw new IllegalStateException(
                        "completion queue is not closed: endpoints report to it");
            }
            isClosed = true;
        }
        var dropped = new Completion();
        while (hasReported()) {
            boolean _ = take(next++, dropped);
        }
        provider.close();
        closed.accept(this);
    }
}
