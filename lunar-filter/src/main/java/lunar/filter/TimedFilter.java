package lunar.filter;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import lunar.block.AbortedException;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;

/**
 * Base class of filters that delay requests. An executed request sleeps on its own thread; a submitted one waits in a
 * timer shared by all filters, which passes it on. Close fails waiting requests.
 */
abstract sealed class TimedFilter extends Filter permits DelayFilter, ThrottleFilter {
    /** Maximum number of delayed requests; more are rejected with {@link BusyException}. */
    static final int MAX_WAITING = 1 << 16;

    /** Made when the first request waits. */
    private static final class Timer {
        static final ScheduledExecutorService SHARED = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("lunar filter timer").factory());
    }

    private final Map<BlockRequest, Boolean> waiting = new ConcurrentHashMap<>();
    /** Has one party for the filter and one for each request that the timer is passing on. */
    private final Phaser passing = new Phaser(1);
    private volatile boolean closed;

    TimedFilter(BlockDevice below) {
        super(below, Set.of(Capability.TRANSFER_TO, Capability.NON_BLOCKING));
    }

    /** Returns the delay of a request. Called once per request. */
    abstract long delayNanos(BlockRequest request);

    @Override
    public final void execute(BlockRequest request) throws StorageException {
        requireOpen(request);
        RequestValidation.check(request, this);
        long nanos = delayNanos(request);
        if (nanos > 0) {
            try {
                TimeUnit.NANOSECONDS.sleep(nanos);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AbortedException(request + ": interrupted while it was delayed", e);
            }
        }
        requireOpen(request);
        below().execute(request);
    }

    @Override
    public final void submit(BlockRequest request) {
        try {
            requireOpen(request);
            RequestValidation.check(request, this);
            if (waiting.size() >= MAX_WAITING) {
                throw new BusyException(request + ": " + MAX_WAITING + " requests wait already");
            }
        } catch (StorageException e) {
            RequestCompletion.fail(request, e);
            return;
        }
        long nanos = delayNanos(request);
        if (nanos <= 0) {
            below().submit(request);
            return;
        }
        waiting.put(request, true);
        var _ = Timer.SHARED.schedule(() -> pass(request), nanos, TimeUnit.NANOSECONDS);
        if (closed) {
            end(request);
        }
    }

    /** Runs on the timer's thread. The thread that takes the request out of the map ends it. */
    private void pass(BlockRequest request) {
        if (passing.register() < 0) {
            return; // closed, and so every request that waited has ended
        }
        try {
            if (waiting.remove(request) != null) {
                below().submit(request);
            }
        } finally {
            passing.arriveAndDeregister();
        }
    }

    private void end(BlockRequest request) {
        if (waiting.remove(request) != null) {
            RequestCompletion.completeGuarded(request,
                    new DeviceGoneException(
                            request + ": device closed while the request was delayed"));
        }
    }

    private void requireOpen(BlockRequest request) throws DeviceGoneException {
        if (closed) {
            throw new DeviceGoneException(request + ": the device is closed");
        }
    }

    @Override
    public final void close() throws StorageException {
        boolean first = !closed;
        closed = true;
        waiting.keySet().forEach(this::end);
        if (first) {
            passing.arriveAndAwaitAdvance();
            passing.forceTermination();
        }
        super.close();
    }
}
