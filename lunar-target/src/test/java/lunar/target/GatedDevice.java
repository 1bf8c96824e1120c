package lunar.target;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.MediumException;
import lunar.block.StorageException;

/** Memory device whose requests wait while its gate is shut, like a disk that hangs. */
final class GatedDevice extends ForwardingDevice {
    private final List<BlockRequest> waiting = new ArrayList<>();
    private CountDownLatch arrived = new CountDownLatch(0);
    private CountDownLatch opened = new CountDownLatch(0);
    private Predicate<BlockRequest> shut = _ -> false;
    private final List<String> seen = new ArrayList<>();
    private volatile boolean failing;
    private final AtomicInteger executed = new AtomicInteger();

    GatedDevice(String uri) throws StorageException { super(Devices.open(uri)); }

    GatedDevice(BlockDevice below) { super(below); }

    /** Shuts the gate; {@link #awaitArrivals} then waits for so many requests. */
    void shut(int requests) {
        shut(requests, _ -> true);
    }

    /** Shuts the gate for some requests. */
    synchronized void shut(int requests, Predicate<BlockRequest> which) {
        shut = which;
        opened = new CountDownLatch(1);
        arrived = new CountDownLatch(requests);
    }

    void awaitArrivals() throws InterruptedException {
        CountDownLatch latch;
        synchronized (this) {
            latch = arrived;
        }
        if (!latch.await(120, TimeUnit.SECONDS)) {
            throw new AssertionError(latch.getCount() + " requests have not reached the device");
        }
    }

    /** Opens the gate: what waits is done now, on this thread. */
    void open() {
        List<BlockRequest> released;
        synchronized (this) {
            shut = _ -> false;
            opened.countDown();
            released = List.copyOf(waiting);
            waiting.clear();
        }
        released.forEach(below()::submit);
    }

    /** Requests that wait at the gate. */
    synchronized int waitingCount() { return waiting.size(); }

    /** Returns the requests since the last call, in order. */
    synchronized List<String> requests() {
        List<String> until = List.copyOf(seen);
        seen.clear();
        return until;
    }

    /** How many requests threads have waited for that have reached the device. */
    int executedCount() {
        return executed.get();
    }

    /** From now on no block can be read. */
    void failReads() { failing = true; }

    @Override
    public void submit(BlockRequest request) {
        synchronized (this) {
            seen.add(request.toString());
            if (shut.test(request)) {
                waiting.add(request);
                arrived.countDown();
                return;
            }
        }
        below().submit(request);
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        if (failing && request.operation() == BlockRequest.Operation.READ) {
            throw new MediumException("no block can be read");
        }
        CountDownLatch gate;
        synchronized (this) {
            gate = opened;
            if (shut.test(request)) {
                arrived.countDown();
            } else {
                gate = new CountDownLatch(0);
            }
        }
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        executed.incrementAndGet();
        below().execute(request);
    }
}
