package lunar.cli.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a number of requests in flight at a device for a given time. Each lane has one request and its buffer, and
 * resubmits it from its completion, so that no thread is woken and nothing is allocated. If a device completes on the
 * submitting thread, the lane iterates there instead of recursing.
 */
final class Load implements AutoCloseable {
    private static final int LOWEST_NS = 100;
    private static final long HIGHEST_NS = TimeUnit.MINUTES.toNanos(2);
    private static final int DIGITS = 3;
    private static final int BUFFER_ALIGNMENT_BYTES = 4096;
    private static final int DRAIN_SECONDS = 60;

    private final BlockDevice device;
    private final Workload work;
    private final int blocks;
    private final long slots;
    private final AtomicLong cursor;
    private final Arena arena = Arena.ofShared();
    private final Lane[] lanes;
    private final CountDownLatch running;
    private final AtomicReference<@Nullable StorageException> failure = new AtomicReference<>();
    private long countFromNs;
    private long endNs;
    private volatile boolean stopped;

    /**
     * @param rangeBytes how much of the device is used, from its beginning
     * @param seed of the places and of what is written
     * @param startPart where a sequential pattern begins, 0 to 1 of the range
     */
    Load(BlockDevice device, Workload work, long rangeBytes, long seed, double startPart) {
        this.device = device;
        this.work = work;
        blocks = work.requestBytes() / device.blockSize();
        slots = rangeBytes / work.requestBytes();
        cursor = new AtomicLong((long) (slots * startPart));
        lanes = new Lane[work.depth()];
        for (int i = 0; i < lanes.length; i++) {
            lanes[i] = new Lane(
                    arena.allocate(work.requestBytes(), BUFFER_ALIGNMENT_BYTES), seed + i);
        }
        running = new CountDownLatch(lanes.length);
    }

    /** Starts all lanes on this thread. Where the device completes on it, this returns when time is up. */
    void start(long startNs) {
        countFromNs = startNs + work.rampNs();
        endNs = countFromNs + work.timeNs();
        for (Lane lane : lanes) {
            lane.go();
        }
    }

    /** Whether its last request has completed. */
    boolean isEnded() {
        return running.getCount() == 0;
    }

    /** Ends it early: no further request is submitted. */
    void stop() { stopped = true; }

    /** Waits for the last request; returns false if the device does not complete one in time. */
    boolean await() throws InterruptedException {
        return running.await(work.rampNs() + work.timeNs() + TimeUnit.SECONDS
                .toNanos(DRAIN_SECONDS), TimeUnit.NANOSECONDS);
    }

    /** Adds what was counted. */
    void addTo(Histogram reads, Histogram writes) {
        for (Lane lane : lanes) {
            reads.add(lane.reads);
            writes.add(lane.writes);
        }
    }

    void throwFailure() throws StorageException {
        StorageException first = failure.get();
        if (first != null) {
            throw first;
        }
    }

    static Histogram histogram() { return new Histogram(LOWEST_NS, HIGHEST_NS, DIGITS); }

    /** Frees the buffers; only after {@link #await} was true: the device must not use them any longer. */
    @Override
    public void close() { arena.close(); }

    /** Request that is submitted again each time it ends. */
    private final class Lane implements BlockRequest.Completion {
        private static final int SUBMITTING = 0;
        private static final int PENDING = 1;
        private static final int COMPLETED = 2;

        private final BlockRequest request = new BlockRequest().onCompletion(this);
        private final MemorySegment buffer;
        private final Histogram reads = histogram();
        private final Histogram writes = histogram();
        private final AtomicInteger state = new AtomicInteger();
        private long random;
        private long startNs;
        private boolean reading;

        Lane(MemorySegment buffer, long seed) {
            this.buffer = buffer;
            random = seed * 0x9E3779B97F4A7C15L + 0x2545F4914F6CDD1DL;
            for (long i = 0; i + 8 <= buffer.byteSize(); i += 8) {
                buffer.set(java.lang.foreign.ValueLayout.JAVA_LONG, i, next());
            }
        }

        /** Submits until a request stays pending, or time is up. */
        void go() {
            while (System.nanoTime() - endNs < 0 && !stopped && failure.get() == null) {
                prepare();
                state.set(SUBMITTING);
                startNs = System.nanoTime();
                device.submit(request);
                if (state.compareAndSet(SUBMITTING, PENDING)) {
                    return; // its completion continues
                }
            }
            running.countDown();
        }

        private void prepare() {
            long place = work.pattern().isRandom()
                    ? Math.floorMod(next(), slots)
                    : cursor.getAndIncrement() % slots;
            int share = work.readShare();
            reading = share == 100 || (share > 0 && Math.floorMod(next(), 100) < share);
            if (reading) {
                request.asRead(place * blocks, blocks, buffer);
            } else {
                request.asWrite(place * blocks, blocks, buffer, false);
            }
        }

        @Override
        public void completed(BlockRequest ended, @Nullable StorageException problem) {
            long now = System.nanoTime();
            if (problem != null) {
                failure.compareAndSet(null, problem);
            } else if (startNs - countFromNs >= 0 && now - endNs <= 0) {
                (reading ? reads : writes).recordValue(Math.min(now - startNs, HIGHEST_NS));
            }
            if (!state.compareAndSet(SUBMITTING, COMPLETED)) {
                go(); // else the submitting thread continues
            }
        }

        /** Xorshift: enough for places, and fast. */
        private long next() {
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            return random;
        }
    }
}
