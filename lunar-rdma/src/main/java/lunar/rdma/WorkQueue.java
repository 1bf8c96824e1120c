package lunar.rdma;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
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
    private final int mask;
    private boolean retiresEarlier;
    /** Whether the device may report operations out of order. */
    private boolean restoresOrder;
    private final Slot[] slots;

    /** An operation. Written by the thread that posts, until the tail has advanced, then by the one that polls. */
    private static final class Slot {
        private Operation operation = Operation.SEND;
        private boolean isSignalled;
        private boolean isDone = true;
        private int segments;
        private long context;
        private @Nullable Object attachment;
        /** Memory of the first segment. */
        private @Nullable RegisteredMemory first;
        /** Memory of the other segments; null if the queue takes operations of one. */
        private final @Nullable RegisteredMemory @Nullable [] others;
        /** Result that the device has reported before that of an earlier operation; null for none. */
        private @Nullable CompletionStatus early;
        private int earlyCode;

        Slot(int maxSegments) {
            others = maxSegments > 1 ? new RegisteredMemory[maxSegments - 1] : null;
        }

        /** Takes the memory of a request into use; returns false, with none in use, if any has ended. */
        boolean acquire(WorkRequest request) {
            int count = request.segments();
            segments = 0;
            for (int i = 0; i < count; i++) {
                RegisteredMemory memory = request.memory(i);
                if (!memory.acquire()) {
                    release();
                    return false;
                }
                if (i == 0) {
                    first = memory;
                } else {
                    Objects.requireNonNull(others)[i - 1] = memory;
                }
                segments = i + 1;
            }
            return true;
        }

        void release() {
            RegisteredMemory used = first;
            first = null;
            if (used != null) {
                used.release();
            }
            for (int i = 0; i < segments - 1; i++) {
                releaseOther(i);
            }
            segments = 0;
            attachment = null;
        }

        private void releaseOther(int index) {
            @Nullable
            RegisteredMemory[] all = Objects.requireNonNull(others);
            RegisteredMemory used = Objects.requireNonNull(all[index]);
            all[index] = null;
            used.release();
        }

        void retire() {
            if (!isDone) {
                isDone = true;
                early = null;
                release();
            }
        }
    }

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
        int count = Integer.highestOneBit(Math.max(1, 2 * depth - 1));
        mask = count - 1;
        slots = new Slot[count];
        Arrays.setAll(slots, _ -> new Slot(segments));
    }

    private Slot slot(int number) { return slots[number & mask]; }

    Endpoint owner() { return owner; }

    /**
     * Sets how the device reports operations: if only some, in order, each implies that all earlier ones have
     * succeeded; if all, they may be out of order, which this queue restores.
     */
    void setReportsAll(boolean all) {
        retiresEarlier = !all;
        restoresOrder = all;
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
        Slot slot = slot(number);
        if (!slot.acquire(request)) {
            throw new MemoryInUseException(
                    "not posted: memory has been given back or deregistered");
        }
        slot.operation = request.operation();
        slot.context = request.context();
        slot.attachment = request.attachment();
        slot.isSignalled = request.isSignalled();
        slot.isDone = false;
        TAIL.setRelease(this, number + 1);
        return number;
    }

    /** Undoes the latest {@link #add}, whose operation was not posted. */
    void undo() {
        int number = tail - 1;
        TAIL.setRelease(this, number);
        // It is not done: the polling thread, which may still see the former tail, must not pass it.
        slot(number).release();
    }

    /**
     * Completes an operation, and releases its memory.
     *
     * @param into receives the operation's kind, context and attachment
     * @return whether the completion is to be reported to the caller
     */
    boolean complete(int number, boolean success, Completion into) {
        int oldest = head;
        Slot slot = slot(number);
        if (!isPosted(number) || slot.isDone) {
            return false; // it has been reported before
        }
        if (retiresEarlier) {
            for (int earlier = oldest; earlier != number; earlier++) {
                slot(earlier).retire();
            }
        }
        boolean report = slot.isSignalled || !success;
        into.set(owner, slot.operation, slot.context, slot.attachment);
        slot.retire();
        advance();
        return report;
    }

    /** Whether a number is that of an operation from the oldest that has not completed to the latest. */
    private boolean isPosted(int number) {
        return number - head >= 0 && (int) TAIL.getAcquire(this) - number > 0;
    }

    /**
     * Keeps the result of an operation if an earlier one has not completed; {@link #reportKept} reports it later. A
     * failure is not kept, since it ends the earlier ones as well.
     *
     * @return whether the result is kept, and not to be reported now
     */
    boolean keepsEarly(int number, CompletionStatus status, int code) {
        if (number == head || !restoresOrder) {
            return false;
        }
        boolean hasFailed = status != CompletionStatus.SUCCESS
                && status != CompletionStatus.FLUSHED;
        Slot slot = slot(number);
        if (hasFailed || !isPosted(number) || slot.isDone) {
            return false;
        }
        slot.early = status;
        slot.earlyCode = code;
        return true;
    }

    /** Has a completion queue report the oldest operation, if its result is kept. */
    void reportKept(CompletionQueue queue) {
        int number = head;
        if (restoresOrder && number != (int) TAIL.getAcquire(this)) {
            boolean _ = reportKept(number, queue);
        }
    }

    private boolean reportKept(int number, CompletionQueue queue) {
        Slot slot = slot(number);
        CompletionStatus status = slot.early;
        if (status == null) {
            return false;
        }
        slot.early = null;
        queue.report(id(number), status, slot.earlyCode);
        return true;
    }

    /**
     * Has a completion queue report all operations that have not completed: with the result that is kept, or as
     * flushed.
     */
    void flush(CompletionQueue queue) {
        int end = (int) TAIL.getAcquire(this);
        for (int number = head; number != end; number++) {
            if (!slot(number).isDone && !reportKept(number, queue)) {
                queue.report(id(number), CompletionStatus.FLUSHED, 0);
            }
        }
    }

    /** Drops all operations that have not completed. */
    void drop() {
        int end = (int) TAIL.getAcquire(this);
        for (int number = head; number != end; number++) {
            slot(number).retire();
        }
        advance();
    }

    private void advance() {
        int end = (int) TAIL.getAcquire(this);
        int oldest = head;
        while (oldest != end && slot(oldest).isDone) {
            oldest++;
        }
        HEAD.setRelease(this, oldest);
    }
}
