package lunar.rdma;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Slots of the operations that are posted to one send or receive queue, in the order of posting. A slot keeps what the
 * completion will return, and the memory that is in use until then.
 *
 * <p>{@link #add} and {@link #undo} are called with the {@link #posting} lock held, {@link #complete} by the thread
 * that polls. Slots are reused in order, even if operations complete out of order.
 */
final class WorkQueue {
    private static final VarHandle HEAD;
    private static final VarHandle TAIL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(WorkQueue.class, "head", int.class);
            TAIL = lookup.findVarHandle(WorkQueue.class, "tail", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Serializes posts with each other, and with changes of the endpoint's state. */
    final Posting posting = new Posting();

    private final Endpoint owner;
    private final int depth;
    private final int segments;
    private final int mask;
    private boolean retiresEarlier;
    private final Operation[] operations;
    private final long[] contexts;
    private final @Nullable Object[] attachments;
    private final boolean[] signalled;
    private final boolean[] done;
    private final int[] pieces;
    private final @Nullable RegisteredMemory[] memory;

    /**
     * Number of the oldest operation that has not completed; counts up and wraps around. Written by the thread that
     * polls.
     */
    private int head;
    /** Number of the next operation to post. Written by the thread that posts. */
    private int tail;

    /** Identity of this queue, assigned by its completion queue. */
    private int identity;

    /**
     * @param segments most memory segments of an operation
     */
    WorkQueue(Endpoint owner, int depth, int segments) {
        this.owner = owner;
        this.depth = depth;
        this.segments = segments;
        int slots = Integer.highestOneBit(Math.max(1, 2 * depth - 1));
        mask = slots - 1;
        operations = new Operation[slots];
        contexts = new long[slots];
        attachments = new Object[slots];
        signalled = new boolean[slots];
        done = new boolean[slots];
        pieces = new int[slots];
        memory = new RegisteredMemory[slots * segments];
    }

    Endpoint owner() { return owner; }

    /** Sets whether a completion means that all earlier operations have succeeded. */
    void setRetiresEarlier(boolean does) {
        retiresEarlier = does;
    }

    void identify(int given) { identity = given; }

    int identity() { return identity; }

    /** Id of an operation, by which the provider reports it. */
    long id(int number) {
        return (long) identity << Integer.SIZE | (number & 0xFFFF_FFFFL);
    }

    /** Number of posted operations; exact only for the polling thread, and while no other thread posts. */
    int posted() {
        return (int) TAIL.getAcquire(this) - (int) HEAD.getAcquire(this);
    }

    boolean isFull() { return tail - (int) HEAD.getAcquire(this) == depth; }

    /**
     * Puts an operation into the next slot, which must be free.
     *
     * @return number of the operation
     * @throws MemoryInUseException if memory of the request has been given back or deregistered
     */
    int add(WorkRequest request) {
        int number = tail;
        int slot = number & mask;
        int count = request.segments();
        for (int i = 0; i < count; i++) {
            if (!request.memory(i).acquire()) {
                releaseFirst(slot, i);
                throw new MemoryInUseException(
                        "not posted: memory has been given back or deregistered");
            }
            memory[slot * segments + i] = request.memory(i);
        }
        pieces[slot] = count;
        operations[slot] = request.operation();
        contexts[slot] = request.context();
        attachments[slot] = request.attachment();
        signalled[slot] = request.isSignalled();
        done[slot] = false;
        TAIL.setRelease(this, number + 1);
        return number;
    }

    /** Undoes the latest {@link #add}, whose operation was not posted. */
    void undo() {
        int number = tail - 1;
        int slot = number & mask;
        TAIL.setRelease(this, number);
        releaseFirst(slot, pieces[slot]);
        attachments[slot] = null;
    }

    /**
     * Completes an operation, and releases its memory.
     *
     * @param into receives the operation's kind, context and attachment
     * @return whether the completion is to be reported to the caller
     */
    boolean complete(int number, boolean success, Completion into) {
        int oldest = head;
        if (number - oldest < 0 || (int) TAIL.getAcquire(this) - number <= 0
                || done[number & mask]) {
            return false; // it has been reported before
        }
        if (retiresEarlier) {
            for (int earlier = oldest; earlier != number; earlier++) {
                retire(earlier & mask);
            }
        }
        int slot = number & mask;
        boolean report = signalled[slot] || !success;
        into.set(owner, operations[slot], contexts[slot], attachments[slot]);
        retire(slot);
        advance();
        return report;
    }

    /** Has a completion queue report all operations as flushed that have not completed. */
    void flush(CompletionQueue queue) {
        int end = (int) TAIL.getAcquire(this);
        for (int number = head; number != end; number++) {
            if (!done[number & mask]) {
                queue.flush(id(number));
            }
        }
    }

    /** Drops all operations that have not completed. */
    void drop() {
        int end = (int) TAIL.getAcquire(this);
        for (int number = head; number != end; number++) {
            retire(number & mask);
        }
        advance();
    }

    private void retire(int slot) {
        if (!done[slot]) {
            done[slot] = true;
            releaseFirst(slot, pieces[slot]);
            attachments[slot] = null;
        }
    }

    private void advance() {
        int end = (int) TAIL.getAcquire(this);
        int oldest = head;
        while (oldest != end && done[oldest & mask]) {
            oldest++;
        }
        HEAD.setRelease(this, oldest);
    }

    private void releaseFirst(int slot, int count) {
        for (int i = 0; i < count; i++) {
            RegisteredMemory used = memory[slot * segments + i];
            memory[slot * segments + i] = null;
            if (used != null) {
                used.release();
            }
        }
    }
}
