package lunar.bench.filter;

import lunar.bench.load.Lane;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Latencies;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/** Keeps requests of a {@link Pattern} in flight at one device, and counts those within the measured time. */
public final class FilterLoad {
    private static final int DRAIN_SECONDS = 60;
    private static final double ZIPF = 0.99;

    /** Where requests go. */
    public enum Place {
        /** Anywhere. */
        UNIFORM,
        /** Few places often, most seldom: the n-th one in proportion to n to the power of -0.99, as YCSB does. */
        ZIPF,
        /** The next block. */
        SEQUENTIAL
    }

    /**
     * Pattern of requests to a device.
     *
     * @param scan whether one more reads through the whole device meanwhile, 64 KiB at a time; it is not counted
     */
    public record Pattern(Place place, boolean writes, int bytes, int depth, boolean scan) {
        static Pattern reads(Place place, int bytes, int depth) {
            return new Pattern(place, false, bytes, depth, false);
        }

        static Pattern writes(Place place, int bytes, int depth) {
            return new Pattern(place, true, bytes, depth, false);
        }

        Pattern besideAScan() { return new Pattern(place, writes, bytes, depth, true); }
    }

    /** Counted operations and their latencies. */
    public record Outcome(double perSecond, double p50Us, double p99Us) {}

    /**
     * When it is counted: after a ramp, in windows that follow each other.
     *
     * @param ms of one window
     */
    public record Windows(int rampMs, int ms, int count) {}

    private static final int SCAN_BYTES = 64 << 10;

    private final BlockDevice device;
    private final Pattern pattern;
    /** Latencies of the window that counts at the moment. */
    private volatile Latencies latencies = new Latencies();
    private final AtomicLong cursor = new AtomicLong();
    private final AtomicReference<@Nullable StorageException> failure = new AtomicReference<>();
    private final CountDownLatch ended;
    private final double[] zipf;
    private volatile boolean counting;
    private volatile boolean stopping;

    private FilterLoad(BlockDevice device, Pattern pattern) {
        this.device = device;
        this.pattern = pattern;
        ended = new CountDownLatch(pattern.depth + (pattern.scan ? 1 : 0));
        zipf = pattern.place == Place.ZIPF
                ? zipf((int) (device.sizeBytes() / pattern.bytes))
                : new double[0];
    }

    /** The sum of the shares of the first places. */
    private static double[] zipf(int places) {
        var sums = new double[places];
        double sum = 0;
        for (int i = 0; i < places; i++) {
            sum += Math.pow(i + 1.0, -ZIPF);
            sums[i] = sum;
        }
        for (int i = 0; i < places; i++) {
            sums[i] /= sum;
        }
        return sums;
    }

    /** Keeps one request in flight. A request that ends within its submit is followed by a loop, not deeper calls. */
    private final class Lane implements BlockRequest.Completion {
        private static final int SUBMITTING = 0;
        private static final int PENDING = 1;
        private static final int COMPLETED = 2;

        private final BlockRequest request = new BlockRequest().onCompletion(this);
        private final AtomicInteger state = new AtomicInteger();
        private final MemorySegment buffer;
        private final SplittableRandom random;
        private final boolean scanning;
        private final long places;
        private long scanned;
        private long startNs;

        Lane(MemorySegment buffer, SplittableRandom random, boolean scanning) {
            this.buffer = buffer;
            this.random = random;
            this.scanning = scanning;
            places = device.sizeBytes() / buffer.byteSize();
        }

        void go() {
            while (!stopping && failure.get() == null) {
                long blocks = buffer.byteSize() / device.blockSize();
                long lba = place() * blocks;
                if (pattern.writes) {
                    request.asWrite(lba, blocks, buffer, false);
                } else {
                    request.asRead(lba, blocks, buffer);
                }
                state.set(SUBMITTING);
                startNs = System.nanoTime();
                device.submit(request);
                if (state.compareAndSet(SUBMITTING, PENDING)) {
                    return; // its completion continues
                }
            }
            ended.countDown();
        }

        private long place() {
            if (scanning) {
                return scanned++ % places;
            }
            return switch (pattern.place) {
                case UNIFORM -> random.nextLong(places);
                case SEQUENTIAL -> cursor.getAndIncrement() % places;
                case ZIPF -> {
                    int found = Arrays.binarySearch(zipf, random.nextDouble());
                    long rank = found < 0 ? -found - 1 : found;
                    yield rank * 0x9E3779B1L % places; // the wanted ones are not neighbours
                }
            };
        }

        @Override
        public void completed(BlockRequest same, @Nullable StorageException why) {
            if (why != null) {
                failure.compareAndSet(null, why);
            } else if (counting && !scanning) {
                latencies.add(System.nanoTime() - startNs);
            }
            if (!state.compareAndSet(SUBMITTING, COMPLETED)) {
                go();
            }
        }
    }

    /** Counts only after the ramp. */
    public static Outcome run(BlockDevice device, Pattern pattern, int rampSeconds, int seconds)
            throws BenchException, InterruptedException {
        return run(device, pattern, new Windows(rampSeconds * 1000, seconds * 1000, 1), () -> {})
                .getFirst();
    }

    /** @param edge runs when counting begins and when it ends */
    public static List<Outcome> run(BlockDevice device, Pattern pattern, Windows windows,
            Runnable edge)
            throws BenchException, InterruptedException {
        var load = new FilterLoad(device, pattern);
        try (Arena arena = Arena.ofShared()) {
            load.start(arena);
            TimeUnit.MILLISECONDS.sleep(windows.rampMs);
            var outcomes = new ArrayList<Outcome>();
            edge.run();
            for (int i = 0; i < windows.count; i++) {
                outcomes.add(load.count(windows.ms));
            }
            edge.run();
            load.finish();
            return outcomes;
        }
    }

    private void start(Arena arena) {
        var random = new SplittableRandom(1);
        int lanes = pattern.depth + (pattern.scan ? 1 : 0);
        for (int i = 0; i < lanes; i++) {
            boolean scanning = i == pattern.depth;
            MemorySegment buffer = arena.allocate(scanning ? SCAN_BYTES : pattern.bytes, 4096);
            Lane lane = new Lane(buffer, random.split(), scanning);
            Thread.ofPlatform().daemon().start(lane::go); // each may be answered at once
        }
    }

    private Outcome count(int ms) throws InterruptedException {
        latencies = new Latencies();
        counting = true;
        long startNs = System.nanoTime();
        TimeUnit.MILLISECONDS.sleep(ms);
        counting = false;
        double elapsed = (System.nanoTime() - startNs) / 1e9;
        return new Outcome(latencies.count() / elapsed, latencies.percentile(0.5),
                latencies.percentile(0.99));
    }

    private void finish() throws BenchException, InterruptedException {
        stopping = true;
        if (!ended.await(DRAIN_SECONDS, TimeUnit.SECONDS)) {
            throw new BenchException("requests have not ended after " + DRAIN_SECONDS + " s");
        }
        StorageException why = failure.get();
        if (why != null) {
            throw new BenchException("a request failed: " + why.getMessage(), why);
        }
    }
}
