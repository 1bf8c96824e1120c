package lunar.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/** Reads and writes of 4 KiB, one as often as the other, at random places of several devices at once. */
final class RandomIo {
    static final int REQUEST_BYTES = 4096;

    private static final int DRAIN_SECONDS = 30;

    private final Latencies latencies = new Latencies();
    private final AtomicReference<@Nullable StorageException> failure = new AtomicReference<>();
    private final CountDownLatch ended;
    private volatile boolean counting;
    private volatile boolean stopping;

    private RandomIo(int requests) { ended = new CountDownLatch(requests); }

    /** A request that begins again when it has ended. */
    private final class Request implements BlockRequest.Completion {
        private final BlockDevice device;
        private final MemorySegment buffer;
        private final SplittableRandom random;
        private final BlockRequest request = new BlockRequest().onCompletion(this);
        private long startNs;

        Request(BlockDevice device, MemorySegment buffer, SplittableRandom random) {
            this.device = device;
            this.buffer = buffer;
            this.random = random;
        }

        void begin() {
            long blocks = REQUEST_BYTES / device.blockSize();
            long lba = random.nextLong(device.blockCount() / blocks) * blocks;
            if (random.nextBoolean()) {
                request.asRead(lba, blocks, buffer);
            } else {
                request.asWrite(lba, blocks, buffer, false);
            }
            startNs = System.nanoTime();
            device.submit(request);
        }

        @Override
        public void completed(BlockRequest same, @Nullable StorageException why) {
            if (counting) {
                latencies.add(System.nanoTime() - startNs);
            }
            if (why != null) {
                failure.compareAndSet(null, why);
            }
            if (stopping || why != null) {
                ended.countDown();
            } else {
                begin();
            }
        }
    }

    /** Keeps so many requests at work at each device; counts only after the ramp. */
    static Latencies run(List<? extends BlockDevice> devices, int depth, int rampSeconds,
            int seconds) throws BenchException, InterruptedException {
        var io = new RandomIo(devices.size() * depth);
        var random = new SplittableRandom(1);
        try (Arena arena = Arena.ofShared()) {
            for (BlockDevice device : devices) {
                for (int i = 0; i < depth; i++) {
                    io.new Request(device, arena.allocate(REQUEST_BYTES, REQUEST_BYTES),
                            random.split()).begin();
                }
            }
            TimeUnit.SECONDS.sleep(rampSeconds);
            io.counting = true;
            TimeUnit.SECONDS.sleep(seconds);
            io.counting = false;
            io.stopping = true;
            if (!io.ended.await(DRAIN_SECONDS, TimeUnit.SECONDS)) {
                throw new BenchException("requests have not ended after " + DRAIN_SECONDS + " s");
            }
        }
        StorageException why = io.failure.get();
        if (why != null) {
            throw new BenchException("a request failed: " + why.getMessage(), why);
        }
        return io.latencies;
    }
}
