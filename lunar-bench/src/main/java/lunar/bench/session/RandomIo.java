package lunar.bench.session;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Latencies;
import lunar.bench.harness.Stamps;

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

/**
 * Reads and writes 4 KiB in equal numbers at random positions of several disks concurrently, which {@link Stamps#fill}
 * has filled. Data read is verified.
 */
final class RandomIo {
    /** @param firstStamp number of its first piece; disks that are the same unit have the same */
    record Disk(BlockDevice device, int firstStamp) {}

    private static final int DRAIN_SECONDS = 30;

    private final Latencies latencies = new Latencies();
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private final CountDownLatch ended;
    private volatile boolean counting;
    private volatile boolean stopping;

    private RandomIo(int requests) { ended = new CountDownLatch(requests); }

    /** A request that begins again when it has ended. */
    private final class Request implements BlockRequest.Completion {
        private final BlockDevice device;
        private final int firstStamp;
        private final MemorySegment buffer;
        private final SplittableRandom random;
        private final BlockRequest request = new BlockRequest().onCompletion(this);
        private int stamp;
        private long startNs;

        Request(Disk disk, MemorySegment buffer, SplittableRandom random) {
            device = disk.device;
            firstStamp = disk.firstStamp;
            this.buffer = buffer;
            this.random = random;
        }

        void begin() {
            long blocks = Stamps.BYTES / device.blockSize();
            int place = random.nextInt((int) (device.blockCount() / blocks));
            long lba = place * blocks;
            stamp = firstStamp + place;
            if (random.nextBoolean()) {
                request.asRead(lba, blocks, buffer);
            } else {
                Stamps.put(buffer, stamp);
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
            Exception wrong = why;
            if (why == null && same.operation() == BlockRequest.Operation.READ
                    && !Stamps.isAt(buffer, stamp)) {
                wrong = new BenchException(same + ": wrong data");
            }
            if (wrong != null) {
                failure.compareAndSet(null, wrong);
            }
            if (stopping || wrong != null) {
                ended.countDown();
            } else {
                begin();
            }
        }
    }

    /** Keeps so many requests at work at each disk; counts only after the ramp. */
    static Latencies run(List<Disk> disks, int depth, int rampSeconds,
            int seconds) throws BenchException, InterruptedException {
        var io = new RandomIo(disks.size() * depth);
        var random = new SplittableRandom(1);
        try (Arena arena = Arena.ofShared()) {
            for (Disk disk : disks) {
                for (int i = 0; i < depth; i++) {
                    io.new Request(disk, arena.allocate(Stamps.BYTES, Stamps.BYTES),
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
        Exception why = io.failure.get();
        if (why != null) {
            throw new BenchException("a request failed: " + why.getMessage(), why);
        }
        return io.latencies;
    }
}
