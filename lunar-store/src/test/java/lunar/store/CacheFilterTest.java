package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.filter.CacheFilter;
import lunar.filter.CacheOptions;
import lunar.filter.CachePolicy;
import lunar.filter.DelayFilter;
import lunar.filter.FaultFilter;
import lunar.filter.FaultPlan;
import lunar.testkit.Seed;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheFilterTest {
    private static final int KIB = 1024;
    private static final CacheOptions SMALL = CacheOptions.of(64 * KIB).withPageBytes(KIB);

    private final SteppedDevice below = new SteppedDevice(128);
    private final CacheFilter cache = new CacheFilter(below,
            SMALL.withReadAheadBytes(CacheOptions.NO_READ_AHEAD));

    private static MemorySegment filled(int blocks, int value) {
        return MemorySegment.ofArray(new byte[512 * blocks]).fill((byte) value);
    }

    private static int read(BlockDevice device, long lba) throws StorageException {
        MemorySegment block = filled(1, 0xee);
        device.read(lba, block);
        return block.get(ValueLayout.JAVA_BYTE, 511);
    }

    /** The request below that reads or writes at a block. */
    private SteppedDevice.Step pending(Operation operation, long lba) {
        return below.pending().stream().filter(step -> step.request().operation() == operation
                && step.request().lba() == lba).findFirst().orElseThrow();
    }

    // --- what must never be ---

    @Test
    void shouldNeverReturnDataTheDeviceDidNotHoldDuringTheRead() throws Exception {
        long first = Seed.next();
        long hits = 0;
        long joins = 0;
        long evicted = 0;
        for (int i = 0; i < 120; i++) {
            CachePolicy.Factory policy = i % 2 == 0 ? CachePolicy.lru() : CachePolicy.s3Fifo();
            CacheOptions options = new CacheOptions(16 * KIB, KIB, i % 3 == 0 ? 0 : 4 * KIB,
                    policy);
            var play = new Interleaving(first + i, device -> new CacheFilter(device, options),
                    i % 5 == 0);
            assertThat(play.run(400)).isGreaterThan(50);
            CacheFilter.Statistics statistics = ((CacheFilter) play.device()).statistics();
            hits += statistics.hits();
            joins += statistics.joins();
            evicted += statistics.evictedPages();
        }
        assertThat(hits).as("seed %d: what is tested must occur", first).isGreaterThan(2000);
        assertThat(joins).as("seed %d", first).isGreaterThan(40);
        assertThat(evicted).as("seed %d", first).isGreaterThan(400);
    }

    @Test
    void shouldNotKeepWhatWasReadBeforeAWriteThatEndedFirst() throws Exception {
        CompletableFuture<Void> read = cache.submitRead(0, filled(2, 0xee));
        SteppedDevice.Step slow = pending(Operation.READ, 0);
        slow.run(); // it has the old data, but does not end yet
        CompletableFuture<Void> write = cache.submitWrite(0, filled(2, 7));
        pending(Operation.WRITE, 0).end();
        assertThat(write).isCompleted();
        slow.end();
        assertThat(read).isCompleted();
        assertThat(read(cache, 0)).isEqualTo(7);
    }

    @Test
    void shouldCacheNeitherOfTwoConcurrentWrites() throws Exception {
        var _ = cache.submitWrite(0, filled(2, 1));
        var _ = cache.submitWrite(0, filled(2, 2));
        List<SteppedDevice.Step> both = below.pending();
        both.get(1).run();
        both.get(0).end(); // the first is the last to have its effect
        both.get(1).end();
        assertThat(cache.statistics().heldPages()).isZero();
        assertThat(read(cache, 0)).isEqualTo(1);
    }

    @Test
    void shouldDiscardAFailedWrite() throws Exception {
        cache.write(0, filled(2, 1));
        assertThat(cache.statistics().heldPages()).isEqualTo(1);
        CompletableFuture<Void> write = cache.submitWrite(0, filled(2, 2));
        SteppedDevice.Step step = pending(Operation.WRITE, 0);
        step.run();
        step.fail(new MediumException("half of it, perhaps"));
        assertThat(write.exceptionNow()).isInstanceOf(MediumException.class);
        assertThat(cache.statistics().heldPages()).isZero();
        assertThat(read(cache, 0)).isEqualTo(2);
    }

    @Test
    void shouldStayConsistentWithTheDeviceUnderManyThreads() throws Exception {
        long seed = Seed.next();
        MemoryDevice memory = MemoryDevice.create(256 * 512, 512);
        try (BlockDevice device = new CacheFilter(
                new DelayFilter(memory, Duration.ZERO,
                        Duration.ofNanos(40_000), seed),
                CacheOptions.of(64 * KIB).withPageBytes(KIB));
                var threads = Executors.newFixedThreadPool(6)) {
            List<Future<?>> running = new ArrayList<>();
            for (int thread = 0; thread < 6; thread++) {
                var random = new Random(seed + thread);
                running.add(threads.submit(() -> {
                    for (int i = 0; i < 800; i++) {
                        int count = 1 + random.nextInt(8);
                        long lba = random.nextInt(256 - count);
                        MemorySegment data = filled(count, random.nextInt());
                        BlockRequest request = random.nextInt(3) == 0
                                ? new BlockRequest().asWrite(lba, count, data, false)
                                : new BlockRequest().asRead(lba, count, data);
                        if (random.nextBoolean()) {
                            device.execute(request);
                        } else {
                            device.submitFuture(request).get(60, TimeUnit.SECONDS);
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> future : running) {
                future.get(300, TimeUnit.SECONDS);
            }
            for (int lba = 0; lba < 256; lba++) {
                assertThat(read(device, lba)).as("seed %d block %d", seed, lba)
                        .isEqualTo(read(memory, lba));
            }
        }
    }

    // --- what it is for ---

    @Test
    void shouldServeCachedBlocksFromMemory() throws Exception {
        cache.write(4, filled(4, 3));
        below.content().fill((byte) 9); // bypasses the cache, so that the source of data is visible
        assertThat(cache.submitRead(5, filled(2, 0))).isCompleted();
        assertThat(read(cache, 4)).isEqualTo(3);
        assertThat(read(cache, 8)).isEqualTo(9);
        below.content().fill((byte) 8);
        assertThat(read(cache, 9)).as("the rest of its page").isEqualTo(9);
        CacheFilter.Statistics statistics = cache.statistics();
        assertThat(statistics.hits()).isEqualTo(3);
        assertThat(statistics.misses()).isEqualTo(1);
        assertThat(statistics.hitRatio()).isEqualTo(0.75);
    }

    @Test
    void shouldKeepWhatACompareAndWriteWroteAndForgetWhatWasZeroed() throws Exception {
        cache.compareAndWrite(0, filled(4, 0).asSlice(0, 2 * KIB).copyFrom(both(0, 5)));
        cache.write(2, filled(2, 6));
        cache.write(4, filled(2, 6));
        assertThat(cache.statistics().heldPages()).isEqualTo(3);
        cache.unmap(2, 2);
        cache.writeZeroes(5, 1);
        assertThat(cache.statistics().heldPages()).isEqualTo(1);
        assertThat(read(cache, 1)).isEqualTo(5);
        assertThat(read(cache, 2)).isZero();
        assertThat(read(cache, 4)).isEqualTo(6);
        assertThat(read(cache, 5)).isZero();
    }

    private static MemorySegment both(int expected, int written) {
        MemorySegment data = filled(4, expected);
        data.asSlice(KIB).fill((byte) written);
        return data;
    }

    @Test
    void shouldStayWithinItsMemory() throws Exception {
        for (CachePolicy.Factory policy : List.of(CachePolicy.lru(), CachePolicy.s3Fifo())) {
            var small = new CacheFilter(below, new CacheOptions(32 * KIB, KIB,
                    CacheOptions.NO_READ_AHEAD, policy));
            for (int lba = 0; lba < 128; lba += 2) {
                small.write(lba, filled(2, lba));
                small.read(127 - lba, filled(1, 0));
            }
            assertThat(small.statistics().heldPages()).isEqualTo(32);
            assertThat(small.statistics().evictedPages()).isGreaterThanOrEqualTo(32);
        }
        try (var smaller = new CacheFilter(below,
                SMALL.withPageBytes(4096).withReadAheadBytes(CacheOptions.NO_READ_AHEAD))) {
            for (int lba = 0; lba < 128; lba += 8) {
                smaller.read(lba, filled(8, 0));
            }
            assertThat(smaller.statistics().heldPages()).isEqualTo(16);
            assertThat(smaller.statistics().evictedPages()).isZero();
            MemorySegment all = filled(64, 0);
            smaller.read(0, all);
            assertThat(smaller.statistics().hits()).isEqualTo(1);
        }
    }

    @Test
    void shouldReadAloneWhatCannotBeReadWithTheRestOfItsPage() throws Exception {
        var fault = new FaultFilter(below, FaultPlan.NONE.withRange(3, 3), 1);
        try (var device = new CacheFilter(fault, SMALL)) {
            below.content().fill((byte) 4);
            assertThat(read(device, 2)).isEqualTo(4);
            MemorySegment block = filled(1, 0);
            CompletableFuture<Void> submitted = device.submitRead(2, block);
            below.endAll();
            assertThat(submitted).isCompleted();
            assertThat(block.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 4);
            assertThatThrownBy(() -> read(device, 3)).isInstanceOf(MediumException.class);
        }
    }

    // --- read-ahead ---

    @Test
    void shouldReadAheadOfSeveralStreamsAndLetReadersWaitForIt() throws Exception {
        try (var device = new CacheFilter(below, SMALL.withReadAheadBytes(8 * KIB))) {
            for (long start : new long[]{0, 64}) {
                var _ = device.submitRead(start, filled(2, 0));
            }
            below.endAll();
            for (long start : new long[]{0, 64}) {
                assertThat(device.submitRead(start + 2, filled(2, 0))).isNotDone();
            }
            assertThat(below.pending()).extracting(step -> step.request().lba())
                    .containsExactly(2L, 4L, 66L, 68L);
            MemorySegment data = filled(2, 0);
            CompletableFuture<Void> joined = device.submitRead(4, data);
            assertThat(below.pending().stream().filter(step -> step.request().lba() == 4))
                    .as("it is not asked for again").hasSize(1);
            below.content().fill((byte) 3);
            below.endAll();
            assertThat(joined).isCompleted();
            assertThat(data.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 3);
            assertThat(device.submitRead(68, filled(2, 0))).isCompleted();
            assertThat(device.statistics().joins()).isEqualTo(1);
        }
    }

    @Test
    void shouldReadBlocksThatAReadAheadMissed() throws Exception {
        try (var device = new CacheFilter(below, SMALL.withReadAheadBytes(8 * KIB))) {
            device.read(0, filled(2, 0));
            device.read(2, filled(2, 0)); // leads to a read of what comes next
            SteppedDevice.Step fetch = pending(Operation.READ, 4);
            CompletableFuture<Void> failed = device.submitRead(4, filled(2, 0));
            fetch.fail(new MediumException("nobody's fault"));
            assertThat(failed).isNotDone();
            pending(Operation.READ, 4).end();
            assertThat(failed).isCompleted();
        }
    }

    @Test
    void shouldNotReadAheadOfADeviceThatAnswersAtOnce() throws Exception {
        try (var device = new CacheFilter(MemoryDevice.create(1 << 20, 512), SMALL)) {
            for (int lba = 0; lba < 64; lba += 2) {
                device.read(lba, filled(2, 0));
            }
            assertThat(device.statistics().readAheads()).isZero();
            assertThat(device.supports(Capability.NON_BLOCKING)).isTrue();
        }
    }

    // --- the device as a whole ---

    @Test
    void shouldDropAllBlocksWhenTheDeviceIsResized() throws Exception {
        cache.write(100, filled(4, 1));
        below.resize(64);
        cache.refresh();
        below.resize(128);
        assertThat(read(cache, 100)).isZero();
    }

    @Test
    void shouldDropAllBlocksWhenTheKeyIsErased(@TempDir Path dir)
            throws Exception {
        try (BlockDevice device = Devices
                .open("cache=1MiB:encrypt=" + dir.resolve("key") + ",create-key=yes:ram:1MiB")) {
            device.write(0, filled(8, 5));
            assertThat(read(device, 0)).isEqualTo(5);
            device.eraseKey();
            MemorySegment noise = filled(8, 0);
            device.read(0, noise);
            assertThat(noise.mismatch(filled(8, 5))).isNotEqualTo(-1);
        }
    }

    @Test
    void shouldEndReadersThatWaitForAReadAheadWhenItIsClosed() throws Exception {
        var device = new CacheFilter(below, SMALL.withReadAheadBytes(8 * KIB));
        device.read(0, filled(2, 0));
        device.read(2, filled(2, 0));
        CompletableFuture<Void> waiting = device.submitRead(4, filled(2, 0));
        assertThat(waiting).isNotDone();
        device.close();
        assertThat(waiting.exceptionNow()).isInstanceOf(DeviceGoneException.class);
    }

    @Test
    void shouldKeepRunningWithAPolicyThatAnswersNonsense() throws Exception {
        CachePolicy.Factory nonsense = _ -> new CachePolicy() {
            @Override
            public void added(int slot, long page) {}

            @Override
            public void used(int slot) {}

            @Override
            public void removed(int slot) {}

            @Override
            public int evict() { return 1 << 20; }
        };
        try (var device = new CacheFilter(below, CacheOptions.of(64 * KIB).withPageBytes(4 * KIB)
                .withReadAheadBytes(0).withPolicy(nonsense))) {
            for (int lba = 0; lba < 128; lba++) {
                device.write(lba, filled(1, lba));
            }
            for (int lba = 0; lba < 128; lba++) {
                assertThat(read(device, lba)).isEqualTo((byte) lba);
            }
        }
    }
}
