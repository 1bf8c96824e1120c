package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import lunar.testkit.CompilerPatience;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counts the allocations of the submitting thread and of the ring's thread. */
class RingAllocationTest {
    private static final int DEPTH = 16;
    private static final int REQUESTS = 40_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Allocation allowance of a run of any length, such as nodes of contended locks. */
    private static final long CONSTANT_BYTES = 16 * 1024;

    @TempDir
    Path folder;

    /** Requests that go round: each is submitted again, by the test's thread, when it has ended. */
    private static final class Load implements BlockRequest.Completion {
        private final FileDevice device;
        private final BlockRequest[] requests = new BlockRequest[DEPTH];
        /** Permits, one per request in flight; the holder of the last one waits for none. */
        private final Semaphore ended = new Semaphore(0);
        private final boolean[] free = new boolean[DEPTH];
        private volatile long ringThread;
        private volatile int failures;
        private long submitBytes;

        Load(FileDevice device) {
            this.device = device;
            Arena arena = Arena.ofAuto();
            for (int i = 0; i < DEPTH; i++) {
                MemorySegment buffer = arena.allocate(4096, 4096);
                requests[i] = new BlockRequest().onCompletion(this);
                BlockRequest _ = i % 2 == 0
                        ? requests[i].asRead(i, 1, buffer)
                        : requests[i].asWrite(i, 1, buffer, false);
            }
        }

        @Override
        public void completed(BlockRequest request, @Nullable StorageException failure) {
            ringThread = Thread.currentThread().threadId();
            if (failure != null) {
                failures = failures + 1;
            }
            synchronized (free) {
                free[(int) request.lba()] = true;
            }
            ended.release();
        }

        void run(int count) throws InterruptedException {
            submitBytes = 0;
            for (int i = 0; i < DEPTH; i++) {
                submit(requests[i]);
            }
            for (int left = count - DEPTH; left > 0; left--) {
                submit(next());
            }
            for (int i = 0; i < DEPTH; i++) {
                BlockRequest _ = next();
            }
        }

        private void submit(BlockRequest request) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            device.submit(request);
            submitBytes += THREADS.getCurrentThreadAllocatedBytes() - before;
        }

        private BlockRequest next() throws InterruptedException {
            assertThat(ended.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
            synchronized (free) {
                for (int i = 0; i < DEPTH; i++) {
                    if (free[i]) {
                        free[i] = false;
                        return requests[i];
                    }
                }
            }
            throw new AssertionError("an end of nothing");
        }
    }

    @Test
    void shouldAllocateNothingForARequest() throws Exception {
        try (FileDevice device = FileDevice.open(folder.resolve("disk.img"),
                FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT).withBlockSize(4096)
                        .withCreateBytes(DEPTH * 4096))) {
            assumeTrue(device.engine().equals("io_uring"), "no io_uring here");
            var load = new Load(device);
            load.run(REQUESTS / 4);
            long ringBytes = Long.MAX_VALUE;
            var patience = new CompilerPatience();
            while (Math.max(ringBytes, load.submitBytes) >= CONSTANT_BYTES && patience.lasts()) {
                long before = THREADS.getThreadAllocatedBytes(load.ringThread);
                load.run(REQUESTS);
                ringBytes = THREADS.getThreadAllocatedBytes(load.ringThread) - before;
            }
            assertThat(load.failures).isZero();
            assertThat(ringBytes).as("bytes of the ring's thread").isLessThan(CONSTANT_BYTES);
            assertThat(load.submitBytes).as("bytes of submit").isLessThan(CONSTANT_BYTES);
        }
    }
}
