package lunar.filter;

import java.util.concurrent.locks.LockSupport;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import org.jspecify.annotations.Nullable;

/** A request in a {@link ScheduleFilter}: submitted, or executed by a thread that waits here for its turn. */
final class ScheduledRequest implements RequestScheduler.Waiting {
    /** Where a request is. */
    enum State {
        WAITING,
        /** It has its turn. */
        CHOSEN,
        /** It will not get one. */
        GONE
    }

    final BlockRequest request;
    private final long arrivedNanos;
    private final long order;
    private final @Nullable Thread executor;
    /** Changed under the filter's lock. */
    private volatile State state = State.WAITING;
    /** Not to be merged: it was, and that failed. Guarded by the filter's lock. */
    private boolean alone;

    /** @param executor the thread that runs the request when it has its turn; null for a submitted one */
    ScheduledRequest(BlockRequest request, long arrivedNanos, long order,
            @Nullable Thread executor) {
        this.request = request;
        this.arrivedNanos = arrivedNanos;
        this.order = order;
        this.executor = executor;
    }

    @Override
    public Operation operation() { return request.operation(); }

    @Override
    public long lba() { return request.lba(); }

    @Override
    public long blockCount() { return request.blockCount(); }

    @Override
    public long arrivedNanos() { return arrivedNanos; }

    @Override
    public long order() { return order; }

    boolean isSubmitted() { return executor == null; }

    /** Whether its buffer may be used by any thread, and it may go together with others. */
    boolean canMerge() {
        return isSubmitted() && !alone && blockCount() > 0 && !request.atomic()
                && (operation() == Operation.READ || operation() == Operation.WRITE);
    }

    /** Waits again, for a turn of its own. */
    void waitAlone() {
        alone = true;
        state = State.WAITING;
    }

    State state() { return state; }

    void end(State reached) {
        state = reached;
        if (executor != null) {
            LockSupport.unpark(executor);
        }
    }

    /** Parks the executing thread until its turn; an interrupt ends the wait, and its flag is kept. */
    State await() {
        while (state == State.WAITING && !Thread.currentThread().isInterrupted()) {
            LockSupport.park(this);
        }
        return state;
    }

    @Override
    public String toString() { return request.toString(); }
}
