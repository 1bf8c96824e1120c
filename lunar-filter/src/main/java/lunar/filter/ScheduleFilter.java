package lunar.filter;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.AbortedException;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.BusyException;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import org.jspecify.annotations.Nullable;

/**
 * Limits the requests in flight at a device, and passes waiting requests on in an order that suits the device:
 * {@code schedule=elevator:disk:/dev/sdb}, {@code schedule=fifo,depth=1,merge=128KiB:throttle=200iops:ram:1GiB}. The
 * depth limits the number of requests at the device below; others wait, and a {@link RequestScheduler} chooses among
 * them. No request waits while the device has capacity.
 *
 * <p><b>Order.</b> Concurrent requests are unordered, even for the same blocks, as on every {@link BlockDevice}. A
 * flush is passed on before all waiting requests: the writes that it must make stable have completed, so none of them
 * waits here.
 *
 * <p><b>Merging.</b> Waiting reads of adjacent blocks, or writes, can be merged into one request up to a length limit.
 * That saves device requests at the cost of copying the data, so it pays off if a request is much more expensive than
 * its bytes. If a merged request fails, each part is retried separately, so a part fails only for its own cause.
 * Executed requests, as opposed to submitted ones, are not merged. Merging uses memory of the limit times the depth,
 * allocated on demand.
 *
 * <p>An executed request waits for its turn on its own thread. Submitted ones are passed on by threads that submit or
 * complete requests; the filter has no thread of its own. At most {@link #MAX_WAITING} wait; more are rejected with
 * {@link BusyException}. Close fails waiting requests.
 */
public final class ScheduleFilter extends Filter {
    /** Requests that may wait. */
    public static final int MAX_WAITING = 1 << 16;

    /**
     * Statistics of a filter.
     *
     * @param passedOn requests that went below
     * @param merged requests that went in the company of one before them, and are not in this number
     * @param waiting requests that wait now
     */
    public record Statistics(long passedOn, long merged, int waiting) {}

    private final int depth;
    /** Guards all that follows. */
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();
    private final RequestScheduler scheduler;
    private final @Nullable Merging merging;
    private final ArrayDeque<ScheduledRequest> flushes = new ArrayDeque<>();
    private int waiting;
    private int inFlight;
    /** Whether a thread is passing requests on; it handles changes of other threads until it stops. */
    private boolean dispatching;
    private boolean closed;
    private long arrived;
    private long passedOn;
    private long merged;

    /** A filter that owns the device below. */
    public ScheduleFilter(BlockDevice below, ScheduleOptions options) {
        super(below, Set.of(Capability.TRANSFER_TO, Capability.NON_BLOCKING));
        depth = options.depth();
        scheduler = options.policy().create();
        merging = options.mergeBytes() == ScheduleOptions.NO_MERGING
                ? null
                : new Merging(options.mergeBytes(), depth, below.blockSize());
    }

    /** Returns the statistics so far. */
    public Statistics statistics() {
        lock.lock();
        try {
            return new Statistics(passedOn, merged, waiting);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        ScheduledRequest own = arrive(request, Thread.currentThread());
        dispatch();
        ScheduledRequest.State state = own.await();
        switch (state == ScheduledRequest.State.WAITING ? giveUp(own) : state) {
            case CHOSEN -> {
                try {
                    below().execute(request);
                } finally {
                    release();
                    dispatch();
                }
            }
            case GONE -> throw gone(request);
            case WAITING -> throw new AbortedException(
                    request + ": interrupted while it waited for its turn");
        }
    }

    /**
     * Withdraws a request whose thread was interrupted. Returns its state, because its turn may have come meanwhile.
     */
    private ScheduledRequest.State giveUp(ScheduledRequest own) {
        lock.lock();
        try {
            ScheduledRequest.State state = own.state();
            if (state == ScheduledRequest.State.WAITING) {
                waiting--;
                if (own.operation() == Operation.FLUSH) {
                    flushes.remove(own);
                } else {
                    scheduler.remove(own);
                }
            }
            return state;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void submit(BlockRequest request) {
        try {
            ScheduledRequest _ = arrive(request, null);
        } catch (StorageException e) {
            RequestCompletion.fail(request, e);
            return;
        }
        dispatch();
    }

    private ScheduledRequest arrive(BlockRequest request, @Nullable Thread executor)
            throws StorageException {
        lock.lock();
        try {
            if (closed) {
                throw gone(request);
            }
            RequestValidation.check(request, this);
            if (waiting >= MAX_WAITING) {
                throw new BusyException(request + ": " + MAX_WAITING + " requests wait already");
            }
            var own = new ScheduledRequest(request, System.nanoTime(), arrived++, executor);
            add(own);
            return own;
        } finally {
            lock.unlock();
        }
    }

    private DeviceGoneException gone(BlockRequest request) {
        return new DeviceGoneException(request + ": " + this + " is closed");
    }

    /** Under the lock. */
    private void add(ScheduledRequest request) {
        waiting++;
        if (request.operation() == Operation.FLUSH) {
            flushes.add(request);
            return;
        }
        scheduler.add(request);
        if (merging != null) {
            merging.add(request);
        }
    }

    // --- passing on ---

    /**
     * Passes on requests within the depth. One thread at a time does so, in a loop: otherwise a device that completes a
     * request before its submit returns would cause a recursion for each waiting request.
     */
    private void dispatch() {
        lock.lock();
        try {
            if (dispatching) {
                return;
            }
            dispatching = true;
        } finally {
            lock.unlock();
        }
        boolean left = false;
        try {
            for (Merging.Batch batch = choose(); batch != null; batch = choose()) {
                send(batch);
            }
            left = true;
        } finally {
            if (!left) { // a completion has thrown: other requests must not suffer for it
                stopDispatching();
            }
        }
    }

    private void stopDispatching() {
        lock.lock();
        try {
            dispatching = false;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the batch that has its turn; null if there is none: then this thread stops dispatching. */
    private Merging.@Nullable Batch choose() {
        lock.lock();
        try {
            ScheduledRequest first = closed || inFlight >= depth ? null : next();
            if (first == null) {
                dispatching = false;
                return null;
            }
            inFlight++;
            passedOn++;
            Merging.Batch batch = merging == null
                    ? Merging.Batch.of(first)
                    : merging.gather(first, limits().maxTransferBlocks());
            for (ScheduledRequest part : batch.parts()) {
                waiting--;
                part.end(ScheduledRequest.State.CHOSEN);
                if (!part.equals(first)) {
                    merged++;
                    scheduler.remove(part);
                }
            }
            return batch;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable ScheduledRequest next() {
        ScheduledRequest flush = flushes.poll();
        return flush != null ? flush : (ScheduledRequest) scheduler.next(System.nanoTime());
    }

    private void send(Merging.Batch batch) {
        MemorySegment buffer = batch.buffer();
        ScheduledRequest first = batch.parts().getFirst();
        if (merging != null && buffer != null) {
            sendMerged(merging, batch, buffer);
        } else if (first.isSubmitted()) { // else its thread continues
            passOn(first.request, (_, failure) -> {
                release();
                RequestCompletion.completeGuarded(first.request, failure);
                dispatch();
            });
        }
    }

    private void sendMerged(Merging with, Merging.Batch batch, MemorySegment buffer) {
        BlockRequest all;
        try {
            all = with.merge(batch, buffer);
        } catch (IllegalStateException | WrongThreadException _) { // from one part's buffer: its own turn reports it
            with.giveBack(buffer);
            split(batch);
            return;
        }
        below().submit(all.onCompletion((_, failure) -> {
            boolean good = failure == null && isCopiedOut(with, batch, buffer);
            with.giveBack(buffer);
            if (good) {
                release();
                batch.parts()
                        .forEach(part -> RequestCompletion.completeGuarded(part.request, null));
            } else {
                split(batch);
            }
            dispatch();
        }));
    }

    private static boolean isCopiedOut(Merging with, Merging.Batch batch, MemorySegment buffer) {
        try {
            if (batch.parts().getFirst().operation() == Operation.READ) {
                with.copyOut(batch, buffer);
            }
            return true;
        } catch (IllegalStateException | WrongThreadException _) {
            return false;
        }
    }

    /** Requests that could not be done together wait again, each by itself. The caller dispatches them. */
    private void split(Merging.Batch batch) {
        List<ScheduledRequest> late = List.of();
        lock.lock();
        try {
            release();
            if (closed) {
                late = batch.parts();
            } else {
                for (ScheduledRequest part : batch.parts()) {
                    part.waitAlone();
                    add(part);
                }
            }
        } finally {
            lock.unlock();
        }
        late.forEach(part -> RequestCompletion.completeGuarded(part.request, gone(part.request)));
    }

    /** The device below can take another request. */
    private void release() {
        lock.lock();
        try {
            if (--inFlight == 0) {
                idle.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() throws StorageException {
        var left = new ArrayList<ScheduledRequest>();
        lock.lock();
        try {
            closed = true;
            for (ScheduledRequest one = next(); one != null; one = next()) {
                waiting--;
                one.end(ScheduledRequest.State.GONE);
                left.add(one);
            }
        } finally {
            lock.unlock();
        }
        for (ScheduledRequest one : left) {
            if (one.isSubmitted()) {
                RequestCompletion.completeGuarded(one.request, gone(one.request));
            }
        }
        try {
            super.close();
        } finally {
            lock.lock();
            try {
                while (inFlight > 0) { // chosen before, but not with the device yet: it refuses them
                    idle.awaitUninterruptibly();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public String toString() { return "schedule by " + scheduler + " over " + below(); }
}
