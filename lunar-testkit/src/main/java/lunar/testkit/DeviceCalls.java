package lunar.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntFunction;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;

/** Calls of a device by the contract: executed and submitted, by many threads, at depth. */
final class DeviceCalls {
    static final long DEADLINE_SECONDS = 120;

    private DeviceCalls() {}

    /** Each of the requests must succeed, and complete once. */
    static void runAllOnce(BlockDevice device, int depth,
            IntFunction<BlockRequest> requests) throws Exception {
        var completions = new AtomicIntegerArray(depth);
        var failures = new ArrayList<StorageException>();
        var done = new CountDownLatch(depth);
        for (int i = 0; i < depth; i++) {
            int slot = i;
            device.submit(requests.apply(i).onCompletion((_, failure) -> {
                completions.incrementAndGet(slot);
                if (failure != null) {
                    synchronized (failures) {
                        failures.add(failure);
                    }
                }
                done.countDown();
            }));
        }
        assertThat(done.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
        device.flush();
        assertThat(failures).isEmpty();
        for (int i = 0; i < depth; i++) {
            assertThat(completions.get(i)).as("completions of slot %d", i).isEqualTo(1);
        }
    }

    /** The request must fail in both forms; submit must not throw. */
    static void requireFailure(BlockDevice device, Callable<BlockRequest> request,
            Class<? extends StorageException> type) throws Exception {
        BlockRequest executed = request.call();
        assertThatThrownBy(() -> device.execute(executed)).as("%s", executed).isInstanceOf(type);
        CompletableFuture<Void> future = device.submitFuture(request.call());
        assertThatThrownBy(() -> future.orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS).join())
                .as("%s", executed).isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(type);
    }

    @FunctionalInterface
    interface Work {
        void of(int thread) throws IOException;
    }

    static void inParallel(int threads, Work work) throws Exception {
        try (var executor = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int thread = i;
                running.add(executor.submit(() -> {
                    work.of(thread);
                    return null;
                }));
            }
            for (Future<?> future : running) {
                future.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    static WritableByteChannel sink(ByteArrayOutputStream bytes) {
        return Channels.newChannel(bytes);
    }

    static MemorySegment blocks(BlockDevice device, long count) {
        return Arena.ofAuto().allocate(count * device.blockSize(), 4096);
    }

    static MemorySegment readBlocks(BlockDevice device, long lba, long count)
            throws StorageException {
        MemorySegment buffer = blocks(device, count);
        device.read(lba, buffer);
        return buffer;
    }
}
