package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceRecords;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.filter.CacheFilter;
import lunar.filter.CacheOptions;
import lunar.filter.EncryptFilter;
import lunar.filter.EncryptOptions;
import lunar.filter.RequestScheduler;
import lunar.filter.ScheduleFilter;
import lunar.filter.ScheduleOptions;
import lunar.filter.TraceFilter;
import lunar.filter.VerifyFilter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that filters over a device with atomic writes report them, and keep writes atomic. */
@Timeout(60)
class AtomicThroughFiltersTest {
    @TempDir
    Path folder;

    /** A filter over a device. */
    private interface Maker {
        BlockDevice over(BlockDevice below) throws StorageException;
    }

    /** Writes down what writes come, and holds back what is submitted, so that more of it waits above. */
    private static final class Noting extends ForwardingDevice {
        private final List<Long> atomic = new CopyOnWriteArrayList<>();
        private final List<Long> plain = new CopyOnWriteArrayList<>();
        private final List<BlockRequest> held = new ArrayList<>();
        private boolean holding = true;

        Noting(BlockDevice below) { super(below); }

        private void note(BlockRequest request) {
            if (request.operation() == BlockRequest.Operation.WRITE) {
                (request.atomic() ? atomic : plain).add(request.blockCount());
            }
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            note(request);
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) {
            note(request);
            synchronized (held) {
                if (holding) {
                    held.add(request);
                    return;
                }
            }
            below().submit(request);
        }

        void release() {
            synchronized (held) {
                holding = false;
            }
            held.forEach(below()::submit);
        }
    }

    @Test
    void shouldStayAtomicThroughEveryFilter() throws Exception {
        List<Maker> makers = List.of(
                below -> new EncryptFilter(below,
                        EncryptOptions.of(folder.resolve("key")).withCreateKey(true),
                        DeviceRecords.NONE),
                VerifyFilter::new,
                below -> new CacheFilter(below, CacheOptions.of(1 << 20)), TraceFilter::new,
                below -> new ScheduleFilter(below,
                        ScheduleOptions.of(RequestScheduler.fifo()).withDepth(1)
                                .withMergeBytes(1 << 20)));
        for (Maker maker : makers) {
            var noting = new Noting(MemoryDevice.create(1 << 20, 512));
            try (BlockDevice device = maker.over(noting)) {
                assertThat(device.supports(Capability.ATOMIC_WRITE)).as("%s", device).isTrue();
                assertThat(device.limits().maxAtomicWriteBlocks()).as("%s", device).isPositive();
                device.execute(write(0));
                List<CompletableFuture<Void>> ends = List.of(device.submitFuture(write(8)),
                        device.submitFuture(write(16)), device.submitFuture(write(24)),
                        device.submitFuture(write(32)));
                noting.release();
                for (CompletableFuture<Void> end : ends) {
                    end.get(60, TimeUnit.SECONDS);
                }
                assertThat(noting.atomic).as("%s", device).containsExactly(8L, 8L, 8L, 8L, 8L);
                assertThat(noting.plain).as("%s", device).isEmpty();
            }
        }
    }

    private static BlockRequest write(long lba) {
        MemorySegment data = Arena.ofAuto().allocate(4096, 4096).fill((byte) lba);
        return new BlockRequest().asAtomicWrite(lba, 8, data, false);
    }
}
