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
    /** Results of operations that the device has reported before an earlier one; null if it reports them in order. */
    private @Nullable CompletionStatus @Nullable [] early;
    private int[] earlyCodes = {};
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

    /**
     * Sets how the device reports operations: if only some, in order, each implies that all earlier ones have
     * succeeded; if all, they may be out of order, which this queue restores.
     */
    void setReportsAll(boolean all) {
        retiresEarlier = !all;
        if (all) {
            early = new CompletionStatus[mask + 1];
            earlyCodes = new int[mask + 1];
        }
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

    /**
     * Keeps the result of an operation if an earlier one has not completed; {@link #reportKept} reports it later. A
     * failure is not kept, since it ends the earlier ones as well.
     *
     * @return whether the result is kept, and not to be reported now
     */
    boolean keepsEarly(int number, CompletionStatus status, int code) {
        @Nullable
        CompletionStatus[] kept = early;
        int slot = number & mask;
        boolean hasFailed = status != CompletionStatus.SUCCESS
                && status != CompletionStatus.FLUSHED;
        if (kept == null || hasFailed || number - head <= 0
                || (int) TAIL.getAcquire(this) - number <= 0
                || done[slot]) {
            return false;
        }
        kept[slot] = status;
        earlyCodes[slot] = code;
        return true;
    }

    /** Has a completion queue report the oldest operation, if its result is kept. */
    void reportKept(CompletionQueue queue) {
        int number = head;
        if (early != null && number != (int) TAIL.getAcquire(this)) {
            boolean _ = reportKept(number, queue);
        }
    }

    private boolean reportKept(int number, CompletionQueue queue) {
        @Nullable
        CompletionStatus[] kept = early;
        int slot = number & mask;
        CompletionStatus status = kept == null ? null : kept[slot];
        if (kept == null || status == null) {
            return false;
        }
        kept[slot] = null;
        queue.report(id(number), status, earlyCodes[slot]);
        return true;
    }

    /**
     * Has a completion queue report all operations that have not completed: with the result that is kept, or as
     * flushed.
     */
    void flush(CompletionQueue queue) {
        int end = (int) TAIL.getAcquire(this);
        for (int number = head; number != end; number++) {
            if (!done[number & mask] && !reportKept(number, queue)) {
                queue.report(id(number), CompletionStatus.FLUSHED, 0);
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
            if (early != null) {
                early[slot] = null;
            }
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
