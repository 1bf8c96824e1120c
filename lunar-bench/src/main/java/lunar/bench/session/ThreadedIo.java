package lunar.bench.session;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.WorkerThreads;
import lunar.bench.harness.Latencies;
import lunar.bench.harness.Stamps;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes 4 KiB in equal numbers at random positions of one disk, which {@link Stamps#fill} has filled from 0
 * on. Each of several threads keeps its share of the requests in flight: it takes completed ones, verifies data read,
 * and resubmits them.
 */
final class ThreadedIo implements AutoCloseable {
    private final BlockDevice device;
    private final int blocks;
    private final int pieces;
    private final int threads;
    private final int depth;
    private final Arena arena = Arena.ofShared();
    private final Latencies latencies = new Latencies();

    /** @param depth of all threads together */
    ThreadedIo(BlockDevice device, int threads, int depth) {
        this.device = device;
        this.threads = threads;
        this.depth = depth;
        blocks = Stamps.BYTES / device.blockSize();
        pieces = Math.toIntExact(device.sizeBytes() / Stamps.BYTES);
    }

    /** Counts only after the ramp. */
    Latencies run(WorkerThreads crew, int rampSeconds, int seconds)
            throws BenchException, InterruptedException {
        var random = new SplittableRandom(1);
        long fromNs = System.nanoTime() + rampSeconds * 1_000_000_000L;
        long untilNs = fromNs + seconds * 1_000_000_000L;
        var jobs = new ArrayList<WorkerThreads.Job>();
        for (int i = 0; i < threads; i++) {
            int share = depth * (i + 1) / threads - depth * i / threads;
            jobs.add(new Asker(share, random.split(), fromNs, untilNs));
        }
        long _ = crew.run(jobs);
        return latencies;
    }

    /** Work of one of the threads. */
    private final class Asker implements WorkerThreads.Job {
        private final BlockingQueue<Request> ended;
        private final SplittableRandom random;
        private final long fromNs;
        private final long untilNs;
        private final int share;

        Asker(int share, SplittableRandom random, long fromNs, long untilNs) {
            this.share = share;
            this.random = random;
            this.fromNs = fromNs;
            this.untilNs = untilNs;
            ended = new ArrayBlockingQueue<>(share);
        }

        @Override
        public void run() throws BenchException {
            for (int i = 0; i < share; i++) {
                new Request(this).begin();
            }
            try {
                for (int flying = share; flying > 0;) {
                    Request request = ended.take();
                    request.check();
                    if (request.endNs - untilNs < 0) {
                        request.begin();
                    } else {
                        flying--;
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new BenchException("interrupted", e);
            }
        }
    }

    private final class Request implements BlockRequest.Completion {
        private final Asker asker;
        private final MemorySegment buffer = arena.allocate(Stamps.BYTES, Stamps.BYTES);
        private final BlockRequest request = new BlockRequest().onCompletion(this);
        private int place;
        private long startNs;
        private long endNs;
        private @Nullable StorageException failure;

        Request(Asker asker) { this.asker = asker; }

        void begin() {
            place = asker.random.nextInt(pieces);
            if (asker.random.nextBoolean()) {
                request.asRead((long) place * blocks, blocks, buffer);
            } else {
                Stamps.put(buffer, place);
                request.asWrite((long) place * blocks, blocks, buffer, false);
            }
            startNs = System.nanoTime();
            device.submit(request);
        }

        @Override
        public void completed(BlockRequest same, @Nullable StorageException why) {
            failure = why;
            endNs = System.nanoTime();
            asker.ended.add(this);
        }

        void check() throws BenchException {
            StorageException why = failure;
            if (why != null) {
                throw new BenchException("a request failed: " + why.getMessage(), why);
            }
            Stamps.check(buffer, place);
            if (endNs - asker.fromNs >= 0 && endNs - asker.untilNs < 0) {
                latencies.add(endNs - startNs);
            }
        }
    }

    @Override
    public void close() { arena.close(); }
}
