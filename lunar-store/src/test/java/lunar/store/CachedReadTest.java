package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.testkit.CompilerPatience;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the submitter reads blocks in the page cache and a worker all others, without allocation. */
class CachedReadTest {
    private static final FileOptions NEW = FileOptions.BUFFERED.withCreateBytes(1 << 20);
    private static final int BYTES = 4096;
    private static final int REQUESTS = 10_000;
    /** Rounds of waiting before the processor is given to others. */
    private static final int SPINS = 100;

    private static final int MAX_RUNS = 20;
    /** Far behind what is read when the file is opened, and what the kernel reads ahead then. */
    private static final int NOT_CACHED = 1024;

    /** Allocation allowance of a run of any length. */
    private static final long CONSTANT_BYTES = 16 * 1024;

    @TempDir
    Path folder;
    private final MemorySegment data = Arena.ofAuto().allocate(BYTES, BYTES);

    @BeforeEach
    void requireLinux() { assumeTrue(LinuxFile.isAvailable(), "no native access"); }

    /** A read that is not cached may still end at once, where the kernel's own reading ahead does. */
    @Test
    void shouldReadWhatIsCachedOnTheSubmittersThreadAndTheRestElsewhere() throws Exception {
        var first = new HashSet<Thread>();
        for (int i = 0; i < MAX_RUNS; i++) {
            Path file = folder.resolve("disk" + i + ".img");
            try (FileDevice direct = FileDevice.open(file, NEW.withIo(FileOptions.Io.DIRECT))) {
                direct.write(NOT_CACHED, data.fill((byte) 7)); // past the cache, which has none of it now
            }
            try (FileDevice device = FileDevice.open(file, FileOptions.BUFFERED)) {
                first.add(reader(device,
                        new BlockRequest().asRead(NOT_CACHED, 8, data.fill((byte) 0))));
                assertThat(data.toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
                assertThat(reader(device,
                        new BlockRequest().asRead(NOT_CACHED, 8, data.fill((byte) 0))))
                        .isEqualTo(Thread.currentThread());
                assertThat(data.toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
            }
        }
        first.remove(Thread.currentThread());
        assertThat(first).as("threads that read what is not cached").isNotEmpty();
    }

    private static Thread reader(FileDevice device, BlockRequest request) throws Exception {
        var by = new CompletableFuture<Thread>();
        device.submit(request.onCompletion((_, failure) -> {
            if (failure == null) {
                by.complete(Thread.currentThread());
            } else {
                by.completeExceptionally(failure);
            }
        }));
        return by.get(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldReportTheSameFailuresAsAWorker() throws Exception {
        FileDevice device = FileDevice.open(folder.resolve("disk.img"), NEW);
        assertThat(failure(device, new BlockRequest().asRead(2048, 8, data)))
                .isInstanceOf(OutOfRangeException.class);
        Arena closed = Arena.ofShared();
        MemorySegment gone = closed.allocate(BYTES);
        closed.close();
        assertThat(failure(device, new BlockRequest().asRead(0, 8, gone)))
                .hasMessageContaining("the buffer cannot be used");
        device.close();
        assertThat(failure(device, new BlockRequest().asRead(0, 8, data)))
                .isInstanceOf(DeviceGoneException.class);
    }

    private static @Nullable StorageException failure(FileDevice device, BlockRequest request)
            throws Exception {
        var ended = new CompletableFuture<@Nullable StorageException>();
        device.submit(request.onCompletion((_, failure) -> ended.complete(failure)));
        return ended.get(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldAllocateNothing() throws Exception {
        // One worker: where the processor is busy others would be started at any time, each of which costs something.
        try (FileDevice device = FileDevice.open(folder.resolve("disk.img"), NEW.withWorkers(1))) {
            device.write(0, data);
            BlockRequest read = new BlockRequest().asRead(0, 8, data);
            BlockRequest write = new BlockRequest().asWrite(8, 8, data, false);
            run(device, read, REQUESTS);
            run(device, write, REQUESTS);
            long[] own = threadsOf(device);
            long bytes = Long.MAX_VALUE;
            var patience = new CompilerPatience();
            while (bytes >= CONSTANT_BYTES && patience.lasts()) {
                long before = allocatedBytes(own);
                run(device, read, REQUESTS);
                run(device, write, REQUESTS);
                bytes = allocatedBytes(own) - before;
            }
            assertThat(bytes).isLessThan(CONSTANT_BYTES);
        }
    }

    private static long allocatedBytes(long[] threads) {
        var all = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return Arrays.stream(all.getThreadAllocatedBytes(threads)).sum();
    }

    /** This thread and that of the device: what runs the tests makes some garbage as time goes by. */
    private static long[] threadsOf(FileDevice device) {
        long[] own = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.equals(Thread.currentThread())
                        || thread.getName().startsWith("lunar " + device))
                .mapToLong(Thread::threadId).toArray();
        assertThat(own).hasSize(2);
        return own;
    }

    /** Runs a request again and again, one at a time. */
    private static void run(FileDevice device, BlockRequest request, int times) throws Exception {
        var ended = new Semaphore(0);
        var failed = new AtomicReference<@Nullable StorageException>();
        request.onCompletion((_, failure) -> {
            if (failure != null) {
                failed.set(failure);
            }
            ended.release();
        });
        for (int i = 0; i < times; i++) {
            device.submit(request);
            for (int rounds = 0; !ended.tryAcquire(); rounds++) {
                if (rounds < SPINS) {
                    Thread.onSpinWait();
                } else {
                    Thread.yield();
                }
            }
        }
        assertThat(failed).hasNullValue();
    }
}
